"""What the demo study says to workers: here, so that a study that says the same can be told."""

WELCOME = """Learn to tell two species of butterfly apart.

First comes a short memory game, then you learn from examples, and at the end a test shows how much \
you have learned. No knowledge of butterflies is needed."""

CONSENT = """This is a demonstration study. You will restore the order of small pictures, then learn to \
tell two invented species of butterfly apart, then classify 100 pictures without being told whether you \
are right.

Your answers and response times are stored under a random code. No name, address or other personal \
detail is asked for or kept. You can stop at any time by closing the page; for a day, the same link \
brings you back to where you were.

If you agree to take part, go on. If you do not, no answers are kept."""
