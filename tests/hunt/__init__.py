"""Random kernels, differentiated by difftile and by dual numbers that share nothing with it."""
