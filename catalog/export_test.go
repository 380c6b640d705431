package catalog

// NewGraph builds a channel's graph as its first use does.
func NewGraph(ch *Channel) *Graph { return newGraph(ch, AsWritten, nil) }
