package payload

// span is tasks that stand side by side.
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
	groups []span // tasks that go one by one
	levels []int  // where in groups each level ends
}

// jobs parts the tasks at Jobs. The node that is parted keeps its first Job;
// what stands before it and behind it become new nodes, the latter to be parted
// in turn.
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
	if len(b.groups)-p.groups == 1 { // it stays as it is
		b.groups, b.levels = b.groups[:p.groups], b.levels[:p.levels]
	}
	p.groupsEnd, p.levelsEnd = len(b.groups), len(b.levels)
	from := p.groups
	for _, end := range b.levels[p.levels:] {
		b.opts.arrange(b.groups[from:end])
		from = end
	}
}

// flat makes one level of all groups.
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

// ordered makes a level of each run of one runlevel that has several
// components, and one group of all between such runs.
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
	level := b.tasks[i].Name.Runlevel
	group := span{i, 1}
	for i++; i < end && level != "" && b.tasks[i].Name.Runlevel == level; i++ {
		if b.tasks[i].Name.Component == b.tasks[i-1].Name.Component {
			group.count++
			continue
		}
		b.groups = append(b.groups, group)
		group = span{i, 1}
	}
	b.groups = append(b.groups, group)
	return i
}

// arrange puts the groups of a level into another order.
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

// link is an edge between nodes.
type link struct{ from, to int }

// joiner numbers nodes and links them.
type joiner struct {
	nodes []Node
	links []link
}

// finish makes the nodes: the parts, then the groups of each part that is
// divided, with what joins them.
func (b *builder) finish() []Node {
	j := joiner{
		nodes: make([]Node, len(b.parts), len(b.parts)*2+len(b.groups)+len(b.levels)),
		links: make([]link, 0, len(b.chain)+2*len(b.groups)+2*len(b.levels)),
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
			exits[i] = len(j.nodes)
			j.join(ends, len(j.nodes), 1)
			j.nodes = append(j.nodes, Node{})
		}
	}
	for i := 1; i < len(b.chain); i++ {
		j.links = append(j.links, link{exits[b.chain[i-1]], b.chain[i]})
	}
	j.connect()
	return j.nodes
}

// expand appends the groups of a part, whose node is its beginning, and returns
// the nodes that it ends with.
func (b *builder) expand(j *joiner, p *part, at int) span {
	before, from := span{at, 1}, p.groups
	for _, end := range b.levels[p.levels:p.levelsEnd] {
		if end-from > 1 && before.count > 1 {
			spacer := len(j.nodes)
			j.join(before, spacer, 1)
			j.nodes = append(j.nodes, Node{})
			before = span{spacer, 1}
		}
		first := len(j.nodes)
		for _, g := range b.groups[from:end] {
			j.nodes = append(j.nodes, Node{First: g.first, Count: g.count})
		}
		j.join(before, first, end-from)
		before, from = span{first, end - from}, end
	}
	return before
}

// join lets count nodes from first on wait for the nodes of before. One of the
// two is a single node.
func (j *joiner) join(before span, first, count int) {
	for from := before.first; from < before.first+before.count; from++ {
		for to := first; to < first+count; to++ {
			j.links = append(j.links, link{from, to})
		}
	}
}

// connect fills in the lists of edges. Each is carved out of one array.
func (j *joiner) connect() {
	ends := make([]int, 2*len(j.links))
	in, out := ends[:0:len(j.links)], ends[len(j.links):len(j.links)]
	counts := make([]int32, 2*len(j.nodes))
	for _, l := range j.links {
		counts[2*l.to]++
		counts[2*l.from+1]++
	}
	for i := range j.nodes {
		if n := int(counts[2*i]); n > 0 {
			j.nodes[i].In = in[len(in) : len(in) : len(in)+n]
			in = in[:len(in)+n]
		}
		if n := int(counts[2*i+1]); n > 0 {
			j.nodes[i].Out = out[len(out) : len(out) : len(out)+n]
			out = out[:len(out)+n]
		}
	}
	for _, l := range j.links {
		j.nodes[l.to].In = append(j.nodes[l.to].In, l.from)
		j.nodes[l.from].Out = append(j.nodes[l.from].Out, l.to)
	}
}
