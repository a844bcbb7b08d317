/**
 * Writes of PodDisruptionBudget objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newPodDisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'a', namespace: 'ns' },
}

export const cases: readonly Case[] = [
  {
    name: 'PodDisruptionBudget',
    object: { ...newPodDisruptionBudget, spec: { minAvailable: 1, selector: {} } },
    errors: [],
  },
  {
    name: 'PodDisruptionBudget both',
    object: {
      ...newPodDisruptionBudget,
      spec: { minAvailable: '101%', maxUnavailable: -1, unhealthyPodEvictionPolicy: 'x' },
    },
    errors: [
      'spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0',
      'spec.minAvailable: Invalid value: "101%": must not be greater than 100%',
      'spec.unhealthyPodEvictionPolicy: Unsupported value: "x": supported values: "AlwaysAllow", "IfHealthyBudget"',
      'spec: Invalid value: {"MinAvailable":"101%","Selector":null,"MaxUnavailable":-1,"UnhealthyPodEvictionPolicy":"x"}: minAvailable and maxUnava',
    ],
  },
  {
    name: 'PodDisruptionBudget str',
    object: { ...newPodDisruptionBudget, spec: { minAvailable: 'abc' } },
    errors: [
      "spec.minAvailable: Invalid value: \"abc\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', re",
    ],
  },
  {
    name: 'PodDisruptionBudget sel',
    object: { ...newPodDisruptionBudget, spec: { selector: { matchExpressions: [{ key: 'a', operator: 'X' }] } } },
    errors: ['spec.selector.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator'],
  },
]
