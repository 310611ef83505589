package spans

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/platform"
)

// operation is what a client of Spark Connect has asked for.
type operation struct {
	names     platform.ConnectTags
	user      string
	statement string
	tags      string // that its jobs have
}

// session is a session of Spark Connect. Spark ends one that is not used, and a client that
// returns begins it again.
type session struct {
	user         string
	starts, ends []int64
}

// connect takes an event of Spark Connect's server.
func (b *Builder) connect(event eventlog.Event) {
	switch v := event.(type) {
	case *eventlog.SessionStarted:
		s := b.session(v.ID)
		s.user, s.starts = v.User, append(s.starts, v.Time)
	case *eventlog.SessionClosed:
		s := b.session(v.ID)
		s.ends = append(s.ends, v.Time)
	case *eventlog.OperationStarted:
		names := platform.ParseConnectTags(v.Tag, "")
		if names.Session == "" {
			return
		}
		tags := []string{v.Tag}
		for _, tag := range v.Tags { // which the client has made
			if strings.HasPrefix(tag, platform.ConnectParentTag) {
				tags = append(tags, tag)
			}
		}
		const read = 4 * descriptionLimit // by redaction.Rules.Text
		o := of(b.operations, names.Number())
		o.from, o.begin = v.Time, operation{
			names: names, user: strings.Clone(redaction.Cut(v.User, read)), statement: strings.Clone(redaction.Cut(v.SQL(), read)),
			tags: strings.Join(tags, ","),
		}
	case *eventlog.OperationEnded:
		number := platform.ParseConnectTags(v.Tag, "").Number()
		if number == "" {
			return
		}
		if o := of(b.operations, number); o.to == 0 || v.Time < o.to || v.Time == o.to && o.failure == "" {
			o.to, o.failure = v.Time, causeFirst(v.Failure)
		}
	}
}

func (b *Builder) session(id string) *session {
	s := b.sessions[id]
	if s == nil {
		s = &session{}
		b.sessions[id] = s
	}
	return s
}

// life is the time between a start and an end of a session.
type life struct {
	number   int   // of the session's lives, from 1 on
	from, to int64 // 0: its start is lost, or it has not ended
}

// lifeAt returns the life that an operation of this start belongs to. The session's times are
// sorted. A nil session is one of which there is no event.
func (s *session) lifeAt(at int64) life {
	l := life{number: 1}
	if s == nil {
		return l
	}
	if begun, _ := slices.BinarySearch(s.starts, at+1); begun > 0 {
		l.number, l.from = begun, s.starts[begun-1]
	}
	if end, _ := slices.BinarySearch(s.ends, at); end < len(s.ends) {
		l.to = s.ends[end]
	}
	return l
}

// analyses adds the operations of AnalyzePlan calls, of which there is no event: each lasts
// from the first of its jobs to the last.
func (a *assembly) analyses() {
	for _, j := range a.jobs {
		names := platform.ParseConnectTags(j.begin.Tags, j.begin.ConnectOperation)
		if j.begin.ConnectOperation == "" || names.Session == "" || j.from == 0 {
			continue
		}
		o := of(a.operations, names.Number())
		o.begin.names = names
		if o.from == 0 || j.from < o.from {
			o.from = j.from
		}
		o.to = max(o.to, a.end(j.to))
	}
}

// part is a job or a SQL execution as part of an operation.
type part struct {
	at         int64
	properties eventlog.JobProperties
}

// parts are what tells of operations, by number, and of sessions, the earliest first.
type parts struct {
	places     map[string][]part // jobs at their start, executions without one at their end
	all        map[string][]part // jobs and executions at their start
	executions map[string][]part // of a session
}

func (a *assembly) parts(first map[int64]eventlog.JobProperties) parts {
	p := parts{map[string][]part{}, map[string][]part{}, map[string][]part{}}
	for _, id := range slices.Sorted(maps.Keys(a.executions)) {
		x := a.executions[id]
		names := platform.ParseConnectTags(x.begin.session.Tags, "")
		if x.from == 0 || names.Session == "" {
			continue
		}
		p.all[names.Number()] = append(p.all[names.Number()], part{x.from, x.begin.session})
		p.executions[names.Session] = append(p.executions[names.Session], part{x.from, x.begin.session})
		if _, hasJob := first[id]; !hasJob && a.root(id) == id {
			p.places[names.Number()] = append(p.places[names.Number()], part{a.end(x.to), x.begin.session})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a.jobs)) {
		j := a.jobs[id]
		number := platform.ParseConnectTags(j.begin.Tags, j.begin.ConnectOperation).Number()
		if j.from > 0 && number != "" {
			p.places[number] = append(p.places[number], part{j.from, j.begin})
			p.all[number] = append(p.all[number], part{j.from, j.begin})
		}
	}
	for _, lists := range []map[string][]part{p.places, p.all, p.executions} {
		for _, list := range lists {
			slices.SortStableFunc(list, func(x, y part) int { return cmp.Compare(x.at, y.at) })
		}
	}
	return p
}

// configured returns what a session that began at a time is configured with at another.
func (p parts) configured(session string, begun, at int64) eventlog.JobProperties {
	list := p.executions[session]
	after, _ := slices.BinarySearchFunc(list, at+1, func(x part, at int64) int { return cmp.Compare(x.at, at) })
	if after == 0 || list[after-1].at < begun {
		return eventlog.JobProperties{}
	}
	return list[after-1].properties
}

// connectSpans makes the spans of operations, and of the sessions in whose traces there is
// one. An operation belongs where its first job does.
func (a *assembly) connectSpans(first map[int64]eventlog.JobProperties) {
	a.analyses()
	parts := a.parts(first)
	for _, s := range a.sessions {
		slices.Sort(s.starts)
		slices.Sort(s.ends)
	}
	for _, number := range slices.SortedFunc(maps.Keys(a.operations), func(x, y string) int {
		return cmp.Or(cmp.Compare(a.operations[x].from, a.operations[y].from), cmp.Compare(x, y))
	}) {
		o := a.operations[number]
		if o.from == 0 {
			continue // its start is lost
		}
		names := o.begin.names
		during := a.sessions[names.Session].lifeAt(o.from)
		session := parts.configured(names.Session, during.from, o.from)
		properties := session
		properties.Tags = o.begin.tags
		if places := parts.places[number]; len(places) > 0 {
			properties = places[0].properties
		}
		in := a.jobPlace(properties, a.place)
		if in.session != "" && !a.sessionSpan(&in, o, during) {
			continue
		}
		s := a.span(in, platform.SpanOperation, number, "operation "+short(names.Operation), o.from, a.operationEnd(o, during))
		a.describe(s, o.begin.statement)
		a.set(s, platform.AttributeConnectSession, names.Session)
		a.set(s, platform.AttributeConnectOperation, names.Operation)
		a.text(s, platform.AttributeConnectUser, o.begin.user)
		a.airflow(s, append([]part{{properties: session}}, parts.all[number]...))
		a.fail(s, o.failure)
		if in.session == "" {
			a.link(s, in)
		}
		if a.take(in.trace, s) {
			in.parent = s.SpanId
			a.keptOperations[number] = in
		}
	}
}

func (a *assembly) text(s *tracepb.Span, key, value string) {
	a.set(s, key, a.redaction.Text(value, descriptionLimit))
}

// operationEnd returns when an operation ended: at the latest with its session.
func (a *assembly) operationEnd(o *phase[operation], session life) int64 {
	if session.to > 0 && (o.to == 0 || session.to < o.to) {
		return session.to
	}
	return a.end(o.to)
}

// sessionSpan makes the span of an operation's session, the root of its trace, unless there
// is one, and puts the operation below it. It reports whether there is one.
func (a *assembly) sessionSpan(in *place, o *phase[operation], during life) bool {
	id, user := in.session, o.begin.user
	if s := a.sessions[id]; s != nil {
		user = cmp.Or(s.user, user)
	}
	own := id
	if during.number > 1 {
		own += "." + strconv.Itoa(during.number)
	}
	in.parent = a.id(platform.SpanSession, own)
	if kept, decided := a.keptSessions[own]; decided {
		return kept
	}
	s := a.span(place{trace: in.trace}, platform.SpanSession, own, "session "+short(id), cmp.Or(during.from, o.from), a.end(during.to))
	a.set(s, platform.AttributeConnectSession, id)
	a.text(s, platform.AttributeConnectUser, user)
	a.link(s, *in)
	a.keptSessions[own] = a.take(in.trace, s)
	return a.keptSessions[own]
}

// airflow says which task of Airflow has configured the session.
func (a *assembly) airflow(s *tracepb.Span, parts []part) {
	for i, name := range platform.AirflowNames() {
		for _, p := range parts {
			values := []string{p.properties.AirflowDAG, p.properties.AirflowTask, p.properties.AirflowRun, p.properties.AirflowTry}
			if values[i] != "" {
				a.text(s, platform.AttributeAirflow(name.Label), values[i])
				break
			}
		}
	}
}

// within returns the place of a job outside SQL, or of a SQL execution: below the operation
// that it is part of, if any. kept is false if the span above it is not.
func (a *assembly) within(in place) (below place, kept bool) {
	if in.operation == "" {
		return in, true
	}
	if o := a.operations[in.operation]; o != nil && o.from > 0 {
		below, kept = a.keptOperations[in.operation]
		return below, kept
	}
	if in.session == "" { // the operation's start is lost
		in.operation = ""
		return in, true
	}
	return in, a.keptSessions[in.session]
}

// short is what tells an id from others in the names of spans.
func short(id string) string {
	const uuidLength, digits = 36, 8
	if len(id) == uuidLength {
		return id[:digits]
	}
	return id
}
