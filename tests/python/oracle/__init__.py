"""The published openai-harmony 0.0.8 as an oracle for the tests.

Its module has the name of this project's, so it lives in an environment of its own and answers
through a pipe: `server` runs there, `client` starts it. Both sides are asked by the same code,
`operations`. To have it:

    python -m venv ORACLE && ORACLE/bin/pip install openai-harmony==0.0.8
    export OPENAI_HARMONY_ORACLE_PYTHON=ORACLE/bin/python
    export TIKTOKEN_ENCODINGS_BASE=<a folder with o200k_base.tiktoken>

`python -m openai_harmony vocabulary DIR` writes that file, so nothing else is downloaded.

`texts`, `schemas`, `conversations` and `streams` make the random cases, each from a seed;
`differences` says in what this project is meant to answer otherwise.
"""
