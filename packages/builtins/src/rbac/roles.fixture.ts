/**
 * Writes of Role and ClusterRole objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

export const cases: readonly Case[] = [
  {
    name: 'Role',
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'a:b', namespace: 'ns' },
      rules: [
        { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
        {},
        { verbs: ['get'], nonResourceURLs: ['/x'], resources: ['y'] },
      ],
    },
    errors: [
      'rules[1].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[1].resources: Required value: resource rules must supply at least one resource',
      'rules[1].verbs: Required value: verbs must contain at least one value',
      'rules[2].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
      'rules[2].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  },
  {
    name: 'ClusterRole',
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'x' },
      rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
      aggregationRule: {},
    },
    errors: [
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ],
  },
  {
    name: 'ClusterRole agg',
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'x' },
      aggregationRule: {
        clusterRoleSelectors: [
          { matchLabels: { a: 'b' } },
          { matchLabels: { 'a b': '!' }, matchExpressions: [{ key: 'a', operator: 'In' }] },
        ],
      },
    },
    errors: [
      "aggregationRule.clusterRoleSelectors[1].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'aggregationRule.clusterRoleSelectors[1].matchLabels: Invalid value: "!": a valid label must be an empty string or consist of alphanumeric ch',
      "aggregationRule.clusterRoleSelectors[1].matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.",
      'aggregationRule.clusterRoleSelectors[1]: Invalid value: null: invalid label selector.',
    ],
  },
]
