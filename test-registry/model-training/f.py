"""Trains a random forest of scikit-learn on event["size"] samples (default 300) of
which half the features are noise, and tests it on as many others.

Answers with the accuracy, rounded to 2 places, and which features matter most.
"""

import numpy as np
from sklearn.ensemble import RandomForestClassifier


def samples(n, seed):
    features = np.random.default_rng(seed).normal(size=(n, 8))
    return features, (features[:, 0] + features[:, 3] > 0).astype(int)


def f(event):
    n = event.get("size", 300)
    forest = RandomForestClassifier(n_estimators=event.get("trees", 20), random_state=1, n_jobs=1)
    forest.fit(*samples(n, 1))
    features, kinds = samples(n, 2)
    order = np.argsort(forest.feature_importances_)[::-1]
    return {"accuracy": round(float(forest.score(features, kinds)), 2), "matter": sorted(int(i) for i in order[:2])}
