package diagnosis

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// schedule is when a CronJob starts, in the form of cron. By field, it has the values at which it does.
type schedule struct {
	minutes, hours, days, months, weekdays []bool
	anyDay, anyWeekday                     bool // the field is a star: if neither is, either of them decides
}

var (
	presets  = map[string]string{"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *"}
	months   = []string{"", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
)

// scheduleOf reads a schedule; false if it is of another form, such as @every 5m.
func scheduleOf(text string) (s schedule, ok bool) {
	if preset, is := presets[text]; is {
		text = preset
	}
	f := strings.Fields(strings.ToLower(text))
	if len(f) != 5 {
		return s, false
	}
	fields := []struct {
		to       *[]bool
		min, max int
		names    []string
	}{{&s.minutes, 0, 59, nil}, {&s.hours, 0, 23, nil}, {&s.days, 1, 31, nil}, {&s.months, 1, 12, months}, {&s.weekdays, 0, 7, weekdays}}
	for i, x := range fields {
		if *x.to, ok = cronField(f[i], x.min, x.max, x.names); !ok {
			return s, false
		}
	}
	s.weekdays[0] = s.weekdays[0] || s.weekdays[7]
	s.anyDay, s.anyWeekday = f[2][0] == '*' || f[2] == "?", f[4][0] == '*' || f[4] == "?"
	return s, true
}

// cronField reads a list of numbers, names, ranges and steps.
func cronField(text string, lowest, highest int, names []string) (at []bool, ok bool) {
	at = make([]bool, highest+1)
	number := func(s string) int {
		if k := slices.Index(names, s); k >= 0 && s != "" {
			return k
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			return -1
		}
		return n
	}
	for part := range strings.SplitSeq(text, ",") {
		span, by, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			step = number(by)
		}
		from, to := lowest, highest
		if first, last, ranged := strings.Cut(span, "-"); span != "*" && span != "?" {
			from = number(first)
			switch {
			case ranged:
				to = number(last)
			case !stepped:
				to = from
			}
		}
		if from < lowest || to < from || to > highest || step < 1 {
			return nil, false
		}
		for k := from; k <= to; k += step {
			at[k] = true
		}
	}
	return at, true
}

// on reports whether it starts on a day.
func (s *schedule) on(t time.Time) bool {
	day, week := s.days[t.Day()], s.weekdays[t.Weekday()]
	if !s.months[t.Month()] {
		return false
	}
	if s.anyDay || s.anyWeekday {
		return day && week
	}
	return day || week
}

// mostDays is how far back starts are looked for.
const mostDays = 5 * 366

// last returns the last start that is not after a time, in its zone; zero if there is none in years.
func (s *schedule) last(t time.Time) time.Time {
	t = t.Truncate(time.Minute)
	for day := 0; day < mostDays; day++ {
		d := time.Date(t.Year(), t.Month(), t.Day()-day, 23, 59, 0, 0, t.Location())
		if !s.on(d) {
			continue
		}
		for hour := 23; hour >= 0; hour-- {
			for minute := 59; s.hours[hour] && minute >= 0; minute-- {
				at := time.Date(d.Year(), d.Month(), d.Day(), hour, minute, 0, 0, t.Location())
				if s.minutes[minute] && !at.After(t) {
					return at
				}
			}
		}
	}
	return time.Time{}
}

// daily reports whether the zone of the schedule matters by more than an hour.
func (s *schedule) daily() bool { return slices.Contains(s.hours, false) || !s.anyDay || !s.anyWeekday }
