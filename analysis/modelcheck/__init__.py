"""How well the teachers' model of a learner fits the people of a study.

`sessions` reads what was taught and answered, `beliefs` scores predictions of the next answer, `decay` fits each
worker's memory from the answers of the teaching alone, `figures` draws and `page` says it in words.
"""
