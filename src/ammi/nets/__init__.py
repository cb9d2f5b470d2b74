"""Small torch modules: encoders with a sparse first layer, and variational priors."""
