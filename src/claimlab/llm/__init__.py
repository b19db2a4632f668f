"""Language models: one small async door. Messages and a schema in; a validated object, text, usage,
refusal out.

    provider = open_provider("openai", calls=Calls(cache=folder))      claimlab.llm.open
    answer = await provider.ask(Request.of("…", schema=Verdict))     claimlab.llm.messages
    async for index, answer in gather(provider, requests): …         claimlab.llm.judge

A provider (`providers/`, one file each) makes one call. Thin layers with the same one method are
put around it, each with one job: `meter` (budget, time limit), `retry` (faults, pace), `remember`
(the recording), `validate` (schema, one re-ask). See docs/llm.md.
"""
