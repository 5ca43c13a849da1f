"""The least-cost mix of supplies: a mixed-integer linear program on arrays, solved by HiGHS.

problem.py   what is wanted, what may be taken or bought, the limits
options.py   options from plain numbers
columns.py   what is chosen: units bought, GPUs used, work put off
rows.py      what must hold
program.py   both as sparse matrices
solver.py    HiGHS: gap, time limit, progress and stop
solve.py     solve(): Problem in, Solution out
prices.py, reasons.py        what a limit is worth; why an option lost
alternatives.py, frontier.py near-optimal plans; cost against coverage
conflicts.py                 which limits conflict, and by how much
stochastic.py                servers and commitments now, the rest when demand is known
from_plan.py, to_plan.py     a Plan with choices to a Problem, and back
"""
