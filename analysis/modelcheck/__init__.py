"""How well the teachers' model of a learner fits the people of a study.

`sessions` reads what was taught and answered, `beliefs` scores predictions of the next answer, `kinds` says which
kind of learner each worker is taken for, `figures` draws and `page` says it in words. Each worker's memory is fitted
from the answers of the teaching alone (`teaching.decay`).
"""
