package shard

// target is how many shards a member should hold, when each of the live ones holds
// so many: an equal number, or one more if nobody lacks one.
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
