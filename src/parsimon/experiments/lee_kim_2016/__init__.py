"""Lee & Kim, *Online kernel dictionary learning on a budget*, Asilomar 2016."""
