package catalog

// NewGraph builds a channel's graph as its first use does.
var NewGraph = newGraph
