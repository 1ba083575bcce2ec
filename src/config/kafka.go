package config

import (
	"encoding/json"
	"fmt"
)

// Kafka says when a message of a Kafka trigger that failed is handled again:
// the keys of the object kafka that are known.
type Kafka struct {
	BaseMS      int `json:"base_ms"`      // pause after the first failure in a row, doubled after each; milliseconds
	CapMS       int `json:"cap_ms"`       // longest pause, milliseconds
	MaxAttempts int `json:"max_attempts"` // after which a message is given up; 0: never
}

// KafkaRetry reads the known keys; those that are missing have their defaults.
func (c Config) KafkaRetry() (Kafka, error) {
	k := Kafka{BaseMS: 1000, CapMS: 60_000}
	text, err := json.Marshal(c.Kafka)
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		return k, fmt.Errorf("config key %q: %w", "kafka", err)
	}
	return k, nil
}

func (c Config) validateKafka(v *validation) {
	k, err := c.KafkaRetry()
	if err != nil {
		v.fail("kafka", c.Kafka, err.Error(), "")
		return
	}
	v.atLeast("kafka.base_ms", k.BaseMS, 1, "there must be a pause")
	v.atLeast("kafka.cap_ms", k.CapMS, k.BaseMS, "it cannot be less than kafka.base_ms")
	v.atLeast("kafka.max_attempts", k.MaxAttempts, 0, "it cannot be negative; 0 is no limit")
}

// unknownKafka lists the keys that nothing reads.
func (c Config) unknownKafka() []string {
	var out []string
	for key := range c.Kafka {
		switch key {
		case "base_ms", "cap_ms", "max_attempts":
		default:
			out = append(out, "kafka."+key)
		}
	}
	return out
}
