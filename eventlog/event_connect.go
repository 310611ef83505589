package eventlog

import (
	"regexp"
	"strings"
)

// OperationStarted is a plan or command that a client of Spark Connect has sent
// (org.apache.spark.sql.connect.service.ExecuteEventsManager; since Spark 3.5).
//
//easyjson:json
type OperationStarted struct {
	Tag       string   `json:"jobTag"` // which names session and operation: platform.ParseConnectTags
	Time      int64    `json:"eventTime"`
	User      string   `json:"userId"`
	Statement string   `json:"statementText"`    // the request as text, cut
	Tags      []string `json:"sparkSessionTags"` // that the client has added to its session
}

// statement begins the statement in the text of a request, which is that of a protocol buffer.
var statement = regexp.MustCompile(`\b(?:sql|query): "`)

// statementBytes is how much of a statement is read.
const statementBytes = 8 << 10

// SQL returns the beginning of the statement that was sent, "" if it is none: a data frame's
// plan is nothing to read. observatory.spark.ConnectEvents.statement is the same in Java.
func (o *OperationStarted) SQL() string {
	found := statement.FindStringIndex(o.Statement)
	if found == nil {
		return ""
	}
	var read []byte
	for rest := o.Statement[found[1]:]; rest != "" && rest[0] != '"' && len(read) < statementBytes; {
		c := rest[0]
		if rest = rest[1:]; c == '\\' && rest != "" {
			c, rest = unescaped(rest)
		}
		read = append(read, c)
	}
	return strings.ToValidUTF8(string(read), "\ufffd")
}

// unescaped returns the character or byte that follows a backslash, and the rest.
func unescaped(text string) (c byte, rest string) {
	digits, octal := 0, 0
	for digits < min(3, len(text)) && '0' <= text[digits] && text[digits] <= '7' {
		octal = 8*octal + int(text[digits]-'0')
		digits++
	}
	switch {
	case digits > 0:
		return byte(octal), text[digits:]
	case strings.IndexByte("nrt", text[0]) >= 0:
		return ' ', text[1:]
	}
	return text[0], text[1:]
}

// OperationEnded is the end of an operation. There may be several, the first of which counts:
// it finished, failed or was canceled, and the client has taken the result.
type OperationEnded struct {
	Tag     string
	Time    int64
	Failure string // "" if it succeeded
}

//easyjson:json
type operationEnded struct {
	Tag     string `json:"jobTag"`
	Time    int64  `json:"eventTime"`
	Failure string `json:"errorMessage"`
}

func (j *operationEnded) event(*decoder) Event {
	return &OperationEnded{Tag: j.Tag, Time: j.Time, Failure: j.Failure}
}

//easyjson:json
type operationCanceled struct {
	Tag  string `json:"jobTag"`
	Time int64  `json:"eventTime"`
}

func (j *operationCanceled) event(*decoder) Event {
	return &OperationEnded{Tag: j.Tag, Time: j.Time, Failure: "canceled"}
}

// SessionStarted is a session of Spark Connect (SessionEventsManager).
//
//easyjson:json
type SessionStarted struct {
	ID   string `json:"sessionId"`
	User string `json:"userId"`
	Time int64  `json:"eventTime"`
}

// SessionClosed is the end of a session.
//
//easyjson:json
type SessionClosed struct {
	ID   string `json:"sessionId"`
	Time int64  `json:"eventTime"`
}
