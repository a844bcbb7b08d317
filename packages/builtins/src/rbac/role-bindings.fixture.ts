/**
 * Writes of RoleBinding and ClusterRoleBinding objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newRoleBinding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'a:b', namespace: 'ns' },
}

export const cases: readonly Case[] = [
  {
    name: 'RoleBinding',
    object: {
      ...newRoleBinding,
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    },
    errors: [],
  },
  {
    name: 'RoleBinding bad',
    object: {
      ...newRoleBinding,
      roleRef: { kind: 'Foo', apiGroup: 'x', name: 'a/b' },
      subjects: [
        { kind: 'User', apiGroup: 'x' },
        { kind: 'Foo', name: 'x' },
        { kind: 'ServiceAccount', name: 'A_', apiGroup: 'z' },
      ],
    },
    errors: [
      'roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
      'roleRef.kind: Unsupported value: "Foo": supported values: "Role", "ClusterRole"',
      'roleRef.name: Invalid value: "a/b": may not contain \'/\'',
      'subjects[0].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
      'subjects[0].name: Required value',
      'subjects[1].kind: Unsupported value: "Foo": supported values: "ServiceAccount", "User", "Group"',
      'subjects[2].apiGroup: Unsupported value: "z": supported values: ""',
      "subjects[2].name: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and mu",
    ],
  },
  {
    name: 'RoleBinding none',
    object: { ...newRoleBinding, roleRef: {} },
    errors: [
      'roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"',
      'roleRef.name: Required value',
    ],
  },
  {
    name: 'ClusterRoleBinding',
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'a:b' },
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [{ kind: 'ServiceAccount', name: 's' }],
    },
    errors: [
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
      'subjects[0].namespace: Required value',
    ],
  },
  {
    name: 'RoleBinding update',
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '1' },
      roleRef: { kind: 'Role', name: 'b' },
    },
    old: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '1' },
      roleRef: { kind: 'Role', name: 'a' },
    },
    errors: [
      'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}: cannot change roleRef',
    ],
  },
]
