package payload

// span is a range of adjacent tasks.
type span struct{ first, count int }

// part is the tasks between Jobs, or a Job.
type part struct {
	span
	groups, groupsEnd int // which of the builder's groups it is divided into; none if it stays one node
	levels, levelsEnd int // which of the builder's levels
}

// builder makes the nodes of a graph.
type builder struct {
	tasks  []*Manifest
	opts   *GraphOptions
	parts  []part // by the index of their nodes
	chain  []int  // the parts in load order
	groups []span // sequences of tasks
	levels []int  // where in groups each level ends
}

// jobs splits the tasks at Jobs. The node that is split keeps its first Job;
// the tasks before and after it become new nodes, the latter to be split in
// turn.
func (b *builder) jobs() {
	b.parts = append(b.parts, part{})
	rest, at := span{0, len(b.tasks)}, 0
	for {
		job := rest.first
		for job < len(b.tasks) && !b.tasks[job].Job() {
			job++
		}
		if rest.count < 2 || job == len(b.tasks) {
			b.parts[at].span = rest
			b.chain = append(b.chain, at)
			return
		}
		b.parts[at].span = span{job, 1}
		if left := job - rest.first; left > 0 {
			b.chain = append(b.chain, len(b.parts))
			b.parts = append(b.parts, part{span: span{rest.first, left}})
		}
		b.chain = append(b.chain, at)
		rest = span{job + 1, len(b.tasks) - job - 1}
		if rest.count == 0 {
			return
		}
		at = len(b.parts)
		b.parts = append(b.parts, part{})
	}
}

// divide finds the groups and levels of a part.
func (b *builder) divide(p *part) {
	p.groups, p.levels = len(b.groups), len(b.levels)
	if p.count >= 2 {
		if b.opts.Flatten {
			b.flat(p)
		} else {
			b.ordered(p)
		}
	}
	if len(b.groups)-p.groups == 1 { // it stays one node
		b.groups, b.levels = b.groups[:p.groups], b.levels[:p.levels]
	}
	p.groupsEnd, p.levelsEnd = len(b.groups), len(b.levels)
	from := p.groups
	for _, end := range b.levels[p.levels:] {
		b.opts.arrange(b.groups[from:end])
		from = end
	}
}

// flat puts all groups into one level.
func (b *builder) flat(p *part) {
	end := p.first + p.count
	for i := p.first; i < end; {
		name, first := b.tasks[i].Name, i
		for i++; i < end && b.tasks[i].Name == name && !name.IsZero(); i++ {
		}
		b.groups = append(b.groups, span{first, i - first})
	}
	b.levels = append(b.levels, len(b.groups))
}

// ordered makes a level for each run of one runlevel that has several
// components, and one group of everything between such runs.
func (b *builder) ordered(p *part) {
	end := p.first + p.count
	serial := false // the last level is a group that others may join
	for i := p.first; i < end; {
		first, before := i, len(b.groups)
		i = b.run(i, end)
		single := len(b.groups)-before == 1
		if single && serial {
			b.groups = b.groups[:before]
			b.groups[before-1].count += i - first
			continue
		}
		b.levels = append(b.levels, len(b.groups))
		serial = single
	}
}

// run makes groups of the tasks of one runlevel from i on, one for each run of
// a component, and returns where they end.
func (b *builder) run(i, end int) int {
	last := &b.tasks[i].Name
	group := span{i, 1}
	for i++; i < end && last.Runlevel != ""; i++ {
		name := &b.tasks[i].Name
		if name.Runlevel != last.Runlevel {
			break
		}
		if name.Component == last.Component {
			group.count++
			continue
		}
		b.groups = append(b.groups, group)
		group, last = span{i, 1}, name
	}
	b.groups = append(b.groups, group)
	return i
}

// arrange reorders the groups of a level.
func (o *GraphOptions) arrange(groups []span) {
	if o.Shuffle {
		random := o.Seed
		for i := len(groups) - 1; i > 0; i-- {
			j := int(splitmix(&random) % uint64(i+1))
			groups[i], groups[j] = groups[j], groups[i]
		}
	}
	if n := len(groups); o.Stride > 0 && o.Step > 0 && n > 1 {
		by := o.Step % n
		if n >= o.Stride {
			by = int(int64(o.Step) * int64(n) / int64(o.Stride) % int64(n))
		}
		rotated := append(append(make([]span, 0, n), groups[by:]...), groups[:by]...)
		copy(groups, rotated)
	}
}

// splitmix is the next number of the SplitMix64 sequence.
func splitmix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// joiner numbers nodes and links them. The nodes that one node waits for, and
// those that wait for it, always have adjacent numbers: each list is a slice of
// one array of all numbers.
type joiner struct {
	nodes []Node
	ids   []int // 0, 1, 2 and so on, one for each node
}

// finish makes the nodes: the parts, then the groups of each divided part, with
// the nodes that join them.
func (b *builder) finish() []Node {
	most := 3*len(b.parts) + len(b.groups) + len(b.levels)
	j := joiner{nodes: make([]Node, len(b.parts), most), ids: make([]int, most)}
	for i := range j.ids {
		j.ids[i] = i
	}
	exits := make([]int, len(b.parts))
	last := b.chain[len(b.chain)-1]
	for i := range b.parts {
		p := &b.parts[i]
		exits[i] = i
		if p.groups == p.groupsEnd {
			j.nodes[i] = Node{First: p.first, Count: p.count}
			continue
		}
		ends := b.expand(&j, p, i)
		if i != last {
			exit := j.add(1)
			exits[i] = exit.first
			j.join(ends, exit)
		}
	}
	for i := 1; i < len(b.chain); i++ {
		j.join(span{exits[b.chain[i-1]], 1}, span{b.chain[i], 1})
	}
	return j.nodes
}

// expand appends the groups of a part, whose node is its beginning, and returns
// the nodes at its end.
func (b *builder) expand(j *joiner, p *part, at int) span {
	before, from := span{at, 1}, p.groups
	for _, end := range b.levels[p.levels:p.levelsEnd] {
		if end-from > 1 && before.count > 1 {
			spacer := j.add(1)
			j.join(before, spacer)
			before = spacer
		}
		level := j.add(end - from)
		nodes := j.nodes[level.first:]
		for i, g := range b.groups[from:end] {
			nodes[i].First, nodes[i].Count = g.first, g.count
		}
		j.join(before, level)
		before, from = level, end
	}
	return before
}

// add makes n more nodes, within the capacity.
func (j *joiner) add(n int) span {
	s := span{len(j.nodes), n}
	j.nodes = j.nodes[:s.first+n]
	return s
}

// join makes the nodes of one span wait for those of another.
func (j *joiner) join(from, to span) {
	fromEnd, toEnd := from.first+from.count, to.first+to.count
	in, out := j.ids[from.first:fromEnd:fromEnd], j.ids[to.first:toEnd:toEnd]
	first, then := j.nodes[from.first:fromEnd], j.nodes[to.first:toEnd]
	for i := range first {
		first[i].Out = out
	}
	for i := range then {
		then[i].In = in
	}
}
