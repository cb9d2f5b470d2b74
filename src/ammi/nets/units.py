"""Units of information."""

import math

BITS_PER_NAT = 1 / math.log(2)
