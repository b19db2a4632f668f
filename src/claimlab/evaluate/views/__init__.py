"""How an evaluation looks: tables, pictures and the pages made of them."""
