package shard

// target returns how many shards a member should hold, given how many each live
// member holds: an equal number, or one more if no other member lacks one.
func target(shards int, held map[string]int, me string) int {
	low := shards / len(held)
	for name, n := range held {
		if name != me && n < low {
			return low
		}
	}
	if shards%len(held) > 0 {
		low++
	}
	return low
}
