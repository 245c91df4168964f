"""What benches/compare.py is made of.

rows        which work is measured on which inputs, against whom, and the floor of each
measures    how a kind of row becomes measurements and ratios
lab         the peers' processes, asked in turn
worker      the process of one peer: reads requests, runs tasks, answers with times
adapters    the peers behind one face
tasks       what a peer is timed at
threads     a task in several threads at once
catalogue   the tasks by their names
requests    a request to a prompt
replies     sampled tokens to a streamed answer
server_loops   the loops of real servers, as they run on every version
environments   the peers' virtual environments, from PyPI
corpora     the inputs: texts, streams, conversations
table       the results as a table

`worker` and what it imports run in every peer's environment, so they need Python alone.
"""
