"""The highest rate that holds an objective: searched by open loops, told from the record alone.

objective = parse("p99<50ms,errors<0.1%")
run = run_capacity(quest, ...)      # each trial goes where it decides most
answer_of(run)                      # the capacity, its interval, and what became of each trial
answers_of(run)                     # the same for the searches within a study
"""
