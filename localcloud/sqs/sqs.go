// Package sqs is the local cloud's SQS as far as a dead-letter queue needs it: standard queues whose
// messages are received, hidden for the visibility timeout, and deleted. Messages are kept in a file, for
// the queue's retention. It has no operation that sends: the local EventBridge Scheduler does.
package sqs

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/emr-observatory/emr-observatory/internal/statefile"
)

// Service holds queues. Its fields are set before Open.
type Service struct {
	Path  string // file of the queues
	Clock clock.PassiveClock
	Log   *slog.Logger

	mu     sync.Mutex
	queues map[string]*queue // by URL
}

// Queue is a queue as the provider has it.
type Queue struct {
	URL, ARN   string
	Retention  time.Duration
	Visibility time.Duration // how long a received message is hidden
}

type queue struct {
	Queue    Queue      `json:"queue"`
	Messages []*message `json:"messages"`
}

type message struct {
	ID         string            `json:"id"`
	Body       string            `json:"body"`
	Attributes map[string]string `json:"attributes"` // of the sender
	Sent       time.Time         `json:"sent"`
	Visible    time.Time         `json:"visible"`
	Receipt    string            `json:"receipt"` // of the last time it was received
	Received   int               `json:"received"`
}

// Open reads the queues of an earlier process.
func (s *Service) Open() error {
	s.queues = map[string]*queue{}
	if err := statefile.Load(s.Path, &s.queues); err != nil {
		return fmt.Errorf("open queues: %w", err)
	}
	return nil
}

// Put creates a queue, or changes its times.
func (s *Service) Put(q Queue) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if existing := s.queues[q.URL]; existing != nil {
		existing.Queue = q
	} else {
		s.queues[q.URL] = &queue{Queue: q}
	}
	return s.save()
}

// Exists reports whether a queue exists.
func (s *Service) Exists(url string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queues[url] != nil
}

// Delete removes a queue with its messages.
func (s *Service) Delete(url string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.queues, url)
	return s.save()
}

// Send adds a message to the queue of an ARN.
func (s *Service) Send(arn, body string, attributes map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		if q.Queue.ARN == arn {
			now := s.Clock.Now()
			q.Messages = append(q.Messages, &message{ID: rand.Text(), Body: body, Attributes: attributes, Sent: now, Visible: now})
			return s.save()
		}
	}
	return fmt.Errorf("send to %s: no such queue", arn)
}

// save is called with the lock held.
func (s *Service) save() error {
	if err := statefile.Save(s.Path, s.queues); err != nil {
		return fmt.Errorf("save queues: %w", err)
	}
	return nil
}

// receive returns up to count messages that are visible, and hides them.
func (s *Service) receive(url string, count int) ([]message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[url]
	if q == nil {
		return nil, errNoQueue
	}
	now := s.Clock.Now()
	q.Messages = slices.DeleteFunc(q.Messages, func(m *message) bool { return now.Sub(m.Sent) > q.Queue.Retention })
	var out []message
	for _, m := range q.Messages {
		if len(out) < count && !m.Visible.After(now) {
			m.Visible, m.Receipt, m.Received = now.Add(q.Queue.Visibility), rand.Text(), m.Received+1
			out = append(out, *m)
		}
	}
	return out, s.save()
}

// remove deletes the message of a receipt. Of a message that was received again since, SQS keeps it.
func (s *Service) remove(url, receipt string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[url]
	if q == nil {
		return errNoQueue
	}
	q.Messages = slices.DeleteFunc(q.Messages, func(m *message) bool { return receipt != "" && m.Receipt == receipt })
	return s.save()
}
