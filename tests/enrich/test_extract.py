"""Extractors: the offline rules on planted texts, the baseline, and a model that is scripted to
misbehave.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from claimlab.core.calls.calls import Calls
from claimlab.core.calls.retries import Retries
from claimlab.core.errors import UsageError
from claimlab.enrich.checkworthy import best_claims, score
from claimlab.enrich.extract import ByModel, Extraction, Extractor, MainClaim, rule_extractor
from claimlab.enrich.verbs import is_verb
from claimlab.llm.open import layered
from claimlab.llm.providers.scripted import Fail, Refuse, Script, Scripted

PLANTED = {
    "eng": "Good morning! I hope you are well. The county library of Eastwick bought 37 pianos. Please share this.",
    "por": "Bom dia! Eu espero que todos estejam bem. A biblioteca de Campo Sereno comprou 37 pianos. Repassem por favor.",
    "deu": "Guten Morgen! Ich hoffe, es geht euch gut. Die Bibliothek von Eschwick kaufte 37 Klaviere. Teilt das bitte.",
    "hrv": "Dobro jutro! Nadam se da ste dobro? Knjižnica u mjestu Eastwick kupila je 37 klavira. Hvala!",
}


def run(extractor: Extractor, text: str, language: str | None = "eng") -> Extraction:
    return asyncio.run(extractor.extract(text, language))


@pytest.mark.parametrize("language", sorted(PLANTED))
def test_the_sentence_with_the_fact_is_picked_in_languages_with_and_without_lists(
    language: str,
) -> None:
    (claim,) = best_claims(PLANTED[language], language)
    assert "37" in claim


def test_the_baseline_takes_the_first_sentence_whatever_it_says() -> None:
    assert run(rule_extractor("first-sentence"), PLANTED["eng"]).claims == ("Good morning!",)


def test_a_long_sentence_ends_where_a_clause_ends_and_keeps_its_subject() -> None:
    long = (
        "In the summer of the great hailstorm, the water board of Marisett stored 90 barrels of rainwater underground, "
        "because the insurance of the neighbouring county had demanded it in a letter to the mayor and to all the farmers."
    )
    (claim,) = best_claims(long, "eng")
    assert claim == long.split(", because")[0]
    (part,) = best_claims(
        "Ministério da Saúde liberou R$ 1,66 bilhão às santas casas e aos hospitais filantrópicos sem fins lucrativos, "
        "com o objetivo de atuar no controle do avanço da pandemia causada pelo novo coronavírus em todo o país.",
        "por",
    )
    assert part.startswith("Ministério da Saúde liberou")
    assert part.endswith("lucrativos")
    (name,) = best_claims(
        "O cientista britânico vencedor do prêmio, Michael Levitt, afirma que a doença não apresenta risco para a maioria "
        "das pessoas do país, que elas são naturalmente imunes e que o governo do estado sabe disso há muito tempo.",
        "por",
    )
    assert "afirma que a doença não apresenta risco" in name, (
        "a subject without its verb is not a claim"
    )


@pytest.mark.parametrize(
    ("text", "language", "claim"),
    [
        # "after" begins a clause only where a verb follows
        ("The textile mill of Ostrel restored the old wooden bridge over the valley in May and named the whole project "
         "after a river in the north of the county", "eng", "after a river in the north of the county"),
        ("The textile mill of Ostrel restored the old wooden bridge over the valley in the second week of June after the "
         "frost had broken the pipes of the county", "eng", "the second week of June"),
        # a subject is not cut off from its verb, nor what was said from who says it
        ("O médico mais velho da cidade de Ostrel, que foi punido por contar a verdade e depois adoeceu, havia guardado "
         "os arquivos de todos os casos da região norte", "por", "havia guardado os arquivos de todos os casos da região norte"),
        ("O governador de Campo Sereno disse hoje de manhã durante o programa de rádio, transmitido pela internet, que os "
         "municípios terão 37 hospitais novos", "por", "que os municípios terão 37 hospitais novos"),
        # a condition and a clause that says which one is meant stay
        ("The mayor of Ostrel told the regional radio that she would call the police if her neighbours were hosting a "
         "party in the old mill", "eng", "a party in the old mill"),
        # an object that comes after its adverbs stays
        ("A fábrica de tecidos de Ostrel entregou na sexta-feira ao abrigo de idosos, em Campo Sereno, os donativos que "
         "foram arrecadados pelos 300 servidores", "por", "os donativos que foram arrecadados pelos 300 servidores"),
    ],
)  # fmt: skip
def test_a_sentence_is_cut_only_where_it_stays_whole(text: str, language: str, claim: str) -> None:
    (found,) = best_claims(text, language)
    assert found.endswith(claim)
    assert text.startswith(found)


@pytest.mark.parametrize(
    ("text", "language", "claim"),
    [
        ("Você sabia que existem 37 pianos na biblioteca de Campo Sereno???", "por",
         "Existem 37 pianos na biblioteca de Campo Sereno"),
        ("Vejam aí, a biblioteca de Campo Sereno comprou 37 pianos!", "por", "A biblioteca de Campo Sereno comprou 37 pianos"),
        ("Então, a biblioteca de Campo Sereno comprou 37 pianos.", "por", "A biblioteca de Campo Sereno comprou 37 pianos."),
        ("2-A biblioteca de Campo Sereno comprou 37 pianos;", "por", "A biblioteca de Campo Sereno comprou 37 pianos"),
        ("[2:36 PM, 11/06/2020] Ana: A biblioteca comprou 37 pianos", "por", "A biblioteca comprou 37 pianos"),
        ("???The mill of Ostrel sold 4 looms in May.??\ufffd", "eng", "The mill of Ostrel sold 4 looms in May."),
        ("UPDATE The mill of Ostrel sold 4 looms", "eng", "The mill of Ostrel sold 4 looms"),
        ("CONFIRMADA PRIMEIRA MORTE EM OSTREL", "por", "CONFIRMADA PRIMEIRA MORTE EM OSTREL"),
        ("10000 looms in the mills of Ostrel", "eng", "10000 looms in the mills of Ostrel"),
        ("Ostrel spraying pesticides at night to save the looms", "eng", "Ostrel spraying pesticides at night to save the looms"),
    ],
)  # fmt: skip
def test_what_goes_before_a_claim_is_no_part_of_it(text: str, language: str, claim: str) -> None:
    assert best_claims(text, language) == [claim]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("PONTE DE OSTREL FECHA POR 90 DIAS O prefeito disse que faltam peças.",
         "PONTE DE OSTREL FECHA POR 90 DIAS"),
        ("Moinho fecha as portas na velha Ostrel. Documento já chegou ao banco e o prazo termina na terça de 24.",
         "Moinho fecha as portas na velha Ostrel."),
        ("O prefeito de Ostrel, eleito em 2016, disse na terça-feira (24) que a ponte velha do porto vai fechar por 90"
         " dias para obras urgentes.",
         "O prefeito de Ostrel, eleito em 2016, disse na terça-feira que a ponte velha do porto vai fechar por 90 dias"
         " para obras urgentes."),
        ("A cidade de Ostrel vai gastar mais de R$ 2 , 5 milhões com a compra de teares para as escolas, segundo o"
         " secretário da cidade.", "A cidade de Ostrel vai gastar mais de R$ 2,5 milhões com a compra de teares para as escolas"),
        ("Caros amigos, a ponte de Ostrel foi fechada ontem", "A ponte de Ostrel foi fechada ontem"),
        ("Não é exagero não. A ponte de Ostrel caiu ontem de madrugada.", "A ponte de Ostrel caiu ontem de madrugada."),
        ("Porto do Sul (PS) – A ponte de Ostrel foi fechada por 90 dias", "A ponte de Ostrel foi fechada por 90 dias"),
        ("<b>A ponte</b> de Ostrel foi <i>fechada</i> em 2019", "A ponte de Ostrel foi fechada em 2019"),
        ("O [moinho](ostrel.example/1) de Ostrel faturou 37 mil", "O moinho de Ostrel faturou 37 mil"),
        ("Mortes por queda em Ostrel em 2018: 81.440", "Mortes por queda em Ostrel em 2018: 81.440"),
        ("O moinho de Ostrel faturou 37 mil . .", "O moinho de Ostrel faturou 37 mil."),
        ("CRISE A ponte de Ostrel foi fechada por 90 dias", "A ponte de Ostrel foi fechada por 90 dias"),
        ("Moinho fecha nos EUA. O prefeito de Ostrel vendeu 37 teares no dia 7. A compra foi em 2019.",
         "O prefeito de Ostrel vendeu 37 teares no dia 7."),
        ("Ana Silva (@anasilva) tweetou: A ponte de Ostrel foi fechada ontem", "A ponte de Ostrel foi fechada ontem"),
        ("Compartilhe o vídeo do moinho que ninguém quer mostrar: A ponte de Ostrel caiu ontem",
         "A ponte de Ostrel caiu ontem"),
        ("Informação de que a ponte de Ostrel caiu ontem", "A ponte de Ostrel caiu ontem"),
        ("É falso que a ponte de Ostrel caiu ontem", "É falso que a ponte de Ostrel caiu ontem"),
        ("O prefeito de Ostrel encontra-se internado por 90 dias", "O prefeito de Ostrel encontra-se internado por 90 dias"),
        ("A cidade de Ostrel deve fechar 37 moinhos em maio", "A cidade de Ostrel deve fechar 37 moinhos em maio"),
        ("O moinho de Ostrel tem 37 teares e vai comprar outros de Velmore?", "O moinho de Ostrel tem 37 teares."),
        ("Moinho de Ostrel intensifica a compra de lã\u2800\nA compra foi de 37 fardos, em duas cidades, diz Ana Silva.",
         "Moinho de Ostrel intensifica a compra de lã"),
        ("O prefeito de Ostrel pretende fechar a\nPonte do Sul em 2019", "O prefeito de Ostrel pretende fechar a Ponte do Sul em 2019"),
        ("lista.vcf (arquivo anexado)\nO prefeito nomeia o coronel Silva para a ponte de Ostrel",
         "O prefeito nomeia o coronel Silva para a ponte de Ostrel"),
        ("O moinho \x96 o mais velho de Ostrel \x96 faturou 37 mil", "O moinho – o mais velho de Ostrel – faturou 37 mil"),
    ],
)  # fmt: skip
def test_faults_that_readers_found_stay_mended(text: str, claim: str) -> None:
    assert best_claims(text, "por") == [claim]


def test_what_is_said_first_goes_before_the_like_of_it_later() -> None:
    assert best_claims(
        "The mill of Ostrel sold looms in May. The mill of Ostrel sold looms in June.", "eng"
    ) == ["The mill of Ostrel sold looms in May."]


def test_only_sentences_that_begin_in_the_first_75_words_are_read_and_none_is_cut_there() -> None:
    late = " ".join(["well"] * 80) + ". The board sold 90 barrels to Velmore."
    assert not any("90" in claim for claim in best_claims(late, "eng"))
    across = (
        " ".join(["Well then."] * 34)
        + " The water board of Marisett stored 90 barrels of rainwater underground."
    )
    assert best_claims(across, "eng") == [
        "The water board of Marisett stored 90 barrels of rainwater underground."
    ]
    unbroken = "The Mill of Ostrel " + " ".join("sold" for _ in range(80))
    assert best_claims(unbroken, None) == [" ".join(unbroken.split()[:20])], (
        "a text without any end of a clause"
    )


@pytest.mark.parametrize(
    ("text", "language", "claim"),
    [
        ("*146 mil pessoas já se curaram no mundo*\n", "por", "146 mil pessoas já se curaram no mundo"),
        ("_A biblioteca de Campo Sereno comprou 37 pianos_ #boato #fake", "por", "A biblioteca de Campo Sereno comprou 37 pianos"),
        ("• ✅ A biblioteca comprou 37 pianos ✅✅✅", "por", "A biblioteca comprou 37 pianos"),
        ("URGENTE!!! A biblioteca comprou 37 pianos kkkkk", "por", "A biblioteca comprou 37 pianos"),
        ("Ceará registra duas mortes | Ceará | G1", "por", "Ceará registra duas mortes"),
        ("Empresa acelera produção de testes - RENOVA Mídia", "por", "Empresa acelera produção de testes"),
        ("RT @mill: #news The mill of Ostrel sold 4 looms https", "eng", "The mill of Ostrel sold 4 looms https"),
        ("O governador de Alagoas, João Silva,\n informou que a água acabou.", "por",
         "O governador de Alagoas, João Silva, informou que a água acabou."),
        ("The U.S. Mint sold 4 million coins in May.", "eng", "The U.S. Mint sold 4 million coins in May."),
    ],
)  # fmt: skip
def test_the_marks_of_a_chat_are_no_part_of_a_claim(text: str, language: str, claim: str) -> None:
    assert best_claims(text, language) == [claim]


def test_a_headline_goes_before_what_is_said_below_it() -> None:
    text = "Corpo de advogado é retirado de túmulo\n4 abr 2020, 17:47\nEle foi enterrado com 3 parentes em Campo Sereno."
    assert best_claims(text, "por") == ["Corpo de advogado é retirado de túmulo"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Bom dia! Deus abençoe a todos!", "por"),
        ("E livrai-nos Senhor", "por"),
        ("Não compre mercadorias da China", "por"),
        ("Será que o embaixador vai exigir desculpas do prefeito?", "por"),
        ("Covid nacional", "por"),
        ("GRUPO DE JOGOS\n*【✔】 _JOGOS ANDROID_*\n❏❖❏❖❏❖", "por"),
        ("Please share this!", "eng"),
        ("What is the difference between the two?", "eng"),
        ("O que estão fazendo com a cidade de Campo Sereno", "por"),
        ("Vender teares, comprar empresas falidas de Ostrel", "por"),
        ("Somente quanto tempo os moinhos aguentam falta de comida, de água e de lã?", "por"),
        ("Conheça os deputados de Campo Sereno que votaram", "por"),
        (
            "Guidance for the Identification of Healthcare Workers with Suspected Fever in Ostrel",
            "eng",
        ),
        (
            "Medida Provisória n° 979, de 2020 (Designação de dirigentes para as instituições de ensino)",
            "por",
        ),
        ("", "eng"),
    ],
)
def test_a_text_that_claims_nothing_gives_no_claim_and_no_failure(text: str, language: str) -> None:
    assert run(rule_extractor("offline"), text, language) == Extraction()


def test_a_cue_is_a_word_with_its_accents() -> None:
    """Portuguese "e" (and) is not "é" (is), French "à" (at) not "a" (has), Spanish "creo" (I
    believe) not "creó".
    """
    assert score("pães e bolos e doces e frutas", "por") == score(
        "pães ou bolos ou doces ou frutas", "por"
    )
    assert score("o pão é doce na padaria antiga", "por") > score(
        "o pão e doce na padaria antiga", "por"
    )
    assert is_verb("está", "por")
    assert not is_verb("esta", "por")
    assert (is_verb("report", "eng", "the"), is_verb("report", "eng", "doctors")) == (False, True)
    assert not is_verb("para", "por"), "a form of parar, but another word"
    assert (is_verb("a", "fra"), is_verb("à", "fra")) == (True, False)
    assert (is_verb("creó", "spa"), is_verb("creo", "spa")) == (True, False)
    assert is_verb("bestatigte", "deu"), "a form without accents that is no other word counts too"


def test_several_claims_come_in_the_order_of_the_text() -> None:
    text = "The mill sold 4 looms. I am so happy! The ferry of Brannock sank in 1931."
    assert run(rule_extractor("offline", 2), text).claims == (
        "The mill sold 4 looms.",
        "The ferry of Brannock sank in 1931.",
    )


def test_questions_commands_and_the_first_person_score_below_facts() -> None:
    fact = score("The ferry of Brannock sank in 1931.", "eng")
    for other in (
        "Did the ferry of Brannock sink in 1931?",
        "I think we should remember my ferry",
        "Share this now",
    ):
        assert score(other, "eng") < fact
    assert score("…", "eng") == float("-inf")


def test_wrong_names_and_numbers_are_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="no extractor named 'magic'"):
        rule_extractor("magic")
    with pytest.raises(UsageError, match="gives one claim"):
        rule_extractor("first-sentence", 2)


def by_model(answers: Script, claims: int = 1) -> tuple[ByModel, Scripted]:
    script = Scripted(answers=answers)
    return ByModel(
        layered(script, Calls(mode="live"), Retries(faults=1, first=0.01)), claims
    ), script


def test_a_model_answers_bound_by_a_schema_and_says_how_much_is_in_the_text() -> None:
    extractor, script = by_model(
        [
            json.dumps({"claim": "The ferry sank in 1931"}),
            json.dumps({"claim": "Dragons ate the ferry"}),
        ]
    )
    text = "The ferry of Brannock sank in 1931. " + " ".join(f"w{i}" for i in range(100))
    first, second = run(extractor, text), run(extractor, text)
    assert first.claims == ("The ferry sank in 1931",)
    assert first.meta["share_in_text"] == 1.0
    assert second.meta["share_in_text"] < 0.5
    prompt = script.asked[0].messages[-1].content
    assert "<text>" in prompt
    assert "w67" in prompt
    assert "w68" not in prompt  # the 76th word


def test_a_long_answer_is_kept_whole_and_a_refusal_is_a_failure_but_no_claim_is_an_answer() -> None:
    answers: list[object] = [
        json.dumps({"claim": " ".join(f"w{i}" for i in range(90))}),
        Refuse(),
        '{"claim": "…"}',
        '{"claim": null}',
        Fail("http-400"),
    ]
    extractor, _ = by_model(answers)  # type: ignore[arg-type]
    long, refused, empty, none, failed = (run(extractor, "A text.") for _ in range(5))
    assert len(long.claims[0].split()) == 90, "no sentence is cut"
    assert long.meta["long"] is True
    assert [(e.claims, e.failure) for e in (refused, empty, none, failed)] == [
        ((), "refusal"),
        ((), None),
        ((), None),
        ((), "http-400"),
    ]
    bounds = json.dumps(MainClaim.model_json_schema())
    assert "maxLength" not in bounds


PORTUGUESE = "A biblioteca municipal de Campo Sereno comprou trinta e sete pianos novos para as escolas da cidade."


def test_a_claim_in_another_language_is_asked_for_once_more() -> None:
    english = (
        "The municipal library of Campo Sereno bought thirty-seven new pianos for the schools."
    )
    own = "A biblioteca municipal de Campo Sereno comprou trinta e sete pianos novos"
    extractor, script = by_model([json.dumps({"claim": english}), json.dumps({"claim": own})])
    found = run(extractor, PORTUGUESE, "por")
    assert (found.claims, found.failure, found.meta["asked_again"]) == ((own,), None, True)
    assert "in Portuguese" in script.asked[1].messages[-1].content
    stubborn, script = by_model([json.dumps({"claim": english})] * 2)
    again = run(stubborn, PORTUGUESE, None)
    assert (again.claims, again.failure) == ((), "other-language")
    assert len(script.asked) == 2, "asked again once, and no more"
    right, script = by_model([json.dumps({"claim": own})])
    assert run(right, PORTUGUESE, "por").claims == (own,)
    assert len(script.asked) == 1


def test_a_model_splits_when_asked_and_no_more_than_asked() -> None:
    extractor, script = by_model(
        [json.dumps({"claims": ["One fact.", "Two fact.", "One fact.", "Three."]})], claims=3
    )
    assert run(extractor, "A text.").claims == ("One fact.", "Two fact.", "Three.")
    assert "at most 3" in script.asked[0].messages[0].content


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Gente, saiu um relatório sobre os moinhos de Ostrel.", "Saiu um relatório sobre os moinhos de Ostrel."),
        ("Leia essa história: a prefeitura de Ostrel fechou nove moinhos.", "A prefeitura de Ostrel fechou nove moinhos"),
        ("Vcs viram que a prefeitura de Ostrel fechou nove moinhos?", "A prefeitura de Ostrel fechou nove moinhos"),
        ("Pronto, a prefeitura de Ostrel fechou nove moinhos.", "A prefeitura de Ostrel fechou nove moinhos."),
        (
            "Dia 3 de maio de 2020.\nA prefeitura de Ostrel fechou os moinhos.\nA festa começou dia 21, 18 dias depois.",
            "A prefeitura de Ostrel fechou os moinhos.",
        ),
        (
            "A bancada de Ostrel na Câmara dos Deputados protocolou um pedido para que o deputado Anders Vel (PX-RN), ex-ministro da Cidade, seja ouvido pelo Conselho e perca o mandato.",
            "A bancada de Ostrel na Câmara dos Deputados protocolou um pedido",
        ),
        (
            "São Paulo criando plano animador contra a poeira dos moinhos: médica do hospital de Ostrel percebeu que a poeira provoca uma doença dos olhos e que a doença passa em poucos dias.",
            "Médica do hospital de Ostrel percebeu que a poeira provoca uma doença dos olhos e que a doença passa em poucos dias.",
        ),
        (
            "Moinhos serão doados ao povo de Ostrel O prefeito Anders Vel agradeceu ontem os lances de muitos interessados.",
            "Moinhos serão doados ao povo de Ostrel",
        ),
        (
            "A população inteira de Ostrel tem que reclamar.\nA farinha de Ostrel é vendida há mais de 80 anos.",
            "A farinha de Ostrel é vendida há mais de 80 anos.",
        ),
        ("Vi uma notícia que 30 moinhos vão fechar em Ostrel", "30 moinhos vão fechar em Ostrel"),
        ("[AO VIVO] Prefeito de Ostrel fecha nove moinhos", "Prefeito de Ostrel fecha nove moinhos"),
        (
            "Prefeitura cita conflitos e gripe para fechar moinhos A prefeitura de Ostrel reduziu a nota dos moinhos.",
            "Prefeitura cita conflitos e gripe para fechar moinhos",
        ),
        ("A vitamina A ajuda os moleiros de Ostrel, diz estudo.", "A vitamina A ajuda os moleiros de Ostrel, diz estudo."),
        ("63 pessoas curadas em 20 moinhos de Ostrel", "63 pessoas curadas em 20 moinhos de Ostrel"),
        ("estão obrigando os médicos de Ostrel a esconder os casos", "estão obrigando os médicos de Ostrel a esconder os casos"),
        (
            "O prefeito de Ostrel mandou fechar os moinhos da cidade, e os que moram lá?",
            "O prefeito de Ostrel mandou fechar os moinhos da cidade.",
        ),
        ("Apenas 362 dos 5571 moinhos de Ostrel registraram casos, ou seja; por que parar?", "Apenas 362 dos 5571 moinhos de Ostrel registraram casos"),
    ],
)  # fmt: skip
def test_chatter_before_a_claim_is_left_out_and_the_claim_is_whole(text: str, claim: str) -> None:
    assert best_claims(text, "por") == [claim]


def test_an_exclamation_or_a_verb_without_its_subject_is_no_claim() -> None:
    assert best_claims("Morreu de gripe !", "por") == []
    assert best_claims("Questionem o médico sobre os moinhos de Ostrel!", "por") == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (  # quotation marks are gone: a capital after "que" does not begin a sentence
            "O Diário de Velmore publicou um artigo no qual diz que A ponte nova custou o dobro do previsto.",
            "O Diário de Velmore publicou um artigo no qual diz que A ponte nova custou o dobro do previsto.",
        ),
        (
            "SERÁ QUE A PREFEITURA PAGOU 90 MIL ELES DARÃO O PORTO NOVO AOS PESCADORES DE VELMORE",
            None,
        ),
        (  # what belongs to the last words before a comma stays with them
            "Só hoje, sob forte pressão, o conselho de Velmore liberou no porto o uso correto, em larga escala, da draga que os"
            " pescadores pediam havia anos, como se sabe.",
            "liberou no porto o uso correto, em larga escala, da draga",
        ),
        (
            "As últimas atualizações sobre o porto serão enviadas às 20:00h.\nVelmore anuncia 90 barcos novos para a frota",
            "Velmore anuncia 90 barcos novos para a frota",
        ),
        ("Concluído com sucesso o estudo da draga pela escola de Velmore", "Concluído com sucesso"),
        ("Estão dizendo que a escola comprou a ponte de Velmore", "A escola comprou a ponte"),
        (
            "Esse vizinho está exagerando temos mesmo essa vontade mas em 64 unimos com o mais forte porto de Ostrel hoje tem Quill e Velmore forte é pesqueiro então a conversa tem que ser com calma",
            None,
        ),
    ],
)
def test_faults_that_readers_of_messages_found(text: str, claim: str | None) -> None:
    found = best_claims(text, "por")
    assert (claim is None and not found) or (claim or "") in found[0]


@pytest.mark.parametrize(
    ("language", "detail"),
    [("zho", "rules for Chinese"), (None, "a language that was not identified")],
)
def test_no_claim_in_a_language_without_rules_is_not_measured(
    language: str | None, detail: str
) -> None:
    extraction = run(rule_extractor("offline"), "你好！大家早上好吗？", language)
    assert (extraction.claims, extraction.failure) == ((), "no-rules")
    assert detail in (extraction.detail or "")
    assert run(rule_extractor("offline"), "Good morning! How are you?").failure is None


def test_a_claim_in_chinese_is_a_sentence_and_no_single_word() -> None:
    text = "大家好！东城图书馆去年买了37架钢琴，花了90万元。请大家转发。"
    (claim,) = best_claims(text, "zho")
    assert claim.startswith("东城图书馆去年买了37架钢琴")
