"""The paper's tables, figures and claims: which experiments they are made of, doing those, and the report of them."""
