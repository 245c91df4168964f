"""The playground: a local page that shows a prompt, sampled output and the answer, token by token.

``harmony playground`` opens it; :func:`~openai_harmony.playground.app.app` is the ASGI application.
It keeps nothing: what the page shows is in its link.
"""
