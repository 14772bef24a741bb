"""What a job needs of a cluster, asked for, waited for and held; may ask the cluster alone."""
