package catalog

import (
	"github.com/open-lambda/open-lambda/examples/custompolicy"
	"github.com/open-lambda/open-lambda/policies"
)

// This is the file to edit for a policy of your own: name it here, and the
// simulator, the worker and `ol policy list` know it. See
// docs/custom-policies.md.

const example = "examples/custompolicy"

// customEvictors are evictors of users.
func customEvictors() []evictorPart {
	return []evictorPart{
		customEvictor("example-biggest", example, "example: the biggest idle sandbox goes first",
			func() policies.Evictor { return &custompolicy.Biggest{} }),
	}
}

// customScalers are scalers of users.
func customScalers() []scalerPart {
	return []scalerPart{
		customScaler("example-patient", example, "example: one request may wait for each busy sandbox",
			func() policies.Scaler { return custompolicy.Patient{} }),
	}
}

func customEvictor(name, source, summary string, makes func() policies.Evictor) evictorPart {
	return evictorPart{
		Entry{Name: name, Kind: evictor, Confidence: "A", Source: source, Summary: summary},
		func(*settings) (policies.Evictor, error) { return makes(), nil },
	}
}

func customScaler(name, source, summary string, makes func() policies.Scaler) scalerPart {
	return scalerPart{
		Entry{Name: name, Kind: scaler, Confidence: "A", Source: source, Summary: summary},
		func(*settings) (policies.Scaler, error) { return makes(), nil },
	}
}
