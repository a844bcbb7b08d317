/**
 * Writes of ValidatingAdmissionPolicy and MutatingAdmissionPolicy objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newValidatingAdmissionPolicy = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name: 'a' } }
const newMutatingAdmissionPolicy = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingAdmissionPolicy', metadata: { name: 'a' } }

export const cases: readonly Case[] = [
  { name: 'ValidatingAdmissionPolicy', object: { ...newValidatingAdmissionPolicy, spec: { matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] }, validations: [{ expression: 'true' }] } }, errors: [] },
  { name: 'ValidatingAdmissionPolicy none', object: { ...newValidatingAdmissionPolicy, spec: {} }, errors: [
    'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
    'spec.matchConstraints: Required value',
    'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
  ] },
  { name: 'ValidatingAdmissionPolicy rules', object: { ...newValidatingAdmissionPolicy, spec: { matchConstraints: {}, validations: [{ expression: 'true' }] } }, errors: [
    'spec.matchConstraints.resourceRules: Required value',
  ] },
  { name: 'ValidatingAdmissionPolicy pk', object: { ...newValidatingAdmissionPolicy, spec: { matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] }, validations: [{ expression: 'true' }], paramKind: { apiVersion: 'a/b/c', kind: 'A_b' } } }, errors: [
    'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    'spec.paramKind.kind: Invalid value: "A_b": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alph',
  ] },
  { name: 'ValidatingAdmissionPolicy pk2', object: { ...newValidatingAdmissionPolicy, spec: { matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] }, validations: [{ expression: 'true' }], paramKind: { apiVersion: 'A_/V1' } } }, errors: [
    'spec.paramKind.apiVersion: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \'-\' or \'.',
    'spec.paramKind.apiVersion: Invalid value: "V1": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an al',
    'spec.paramKind.kind: Required value',
  ] },
  { name: 'ValidatingAdmissionPolicy val', object: { ...newValidatingAdmissionPolicy, spec: { matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] }, validations: [{ expression: ' ', message: 'a\nb', reason: 'x' }, { expression: 'true', message: ' ', messageExpression: ' ' }] } }, errors: [
    'spec.validations[0].expression: Required value: expression is not specified',
    'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
    'spec.validations[0].reason: Unsupported value: "x": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
    'spec.validations[1].message: Invalid value: " ": must be non-empty if specified',
    'spec.validations[1].messageExpression: Invalid value: " ": must be non-empty if specified',
  ] },
  { name: 'ValidatingAdmissionPolicy aa', object: { ...newValidatingAdmissionPolicy, spec: { matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] }, validations: [], auditAnnotations: [{ key: 'a', valueExpression: '"x"' }, { key: 'a', valueExpression: '' }, { key: 'a b', valueExpression: '"x"' }] } }, errors: [
    'spec.auditAnnotations[1].key: Duplicate value: "a"',
    'spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified',
    'spec.auditAnnotations[2].key: Invalid value: "a/a b": name part must consist of alphanumeric characters, \'-\', \'_\' or \'.\', and must start and',
  ] },
  { name: 'ValidatingAdmissionPolicy vars', object: { ...newValidatingAdmissionPolicy, spec: { matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] }, validations: [{ expression: 'true' }], variables: [{ name: '', expression: '' }, { name: 'a-b', expression: '1' }, { name: 'ok', expression: '1' }] } }, errors: [
    'spec.variables[0].expression: Required value: expression is not specified',
    'spec.variables[0].name: Required value: name is not specified',
    'spec.variables[1].name: Invalid value: "a-b": must be a valid CEL identifier',
  ] },
  { name: 'ValidatingAdmissionPolicy names', object: { ...newValidatingAdmissionPolicy, spec: { matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], resourceNames: ['a', 'a', 'b/c'] }], excludeResourceRules: [{}], matchPolicy: 'x' }, validations: [{ expression: 'true' }] } }, errors: [
    'spec.matchConstraints.excludeResourceRules[0].apiGroups: Required value',
    'spec.matchConstraints.excludeResourceRules[0].apiVersions: Required value',
    'spec.matchConstraints.excludeResourceRules[0].operations: Required value',
    'spec.matchConstraints.excludeResourceRules[0].resources: Required value',
    'spec.matchConstraints.matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact"',
    'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
    'spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "b/c": may not contain \'/\'',
  ] },
  { name: 'MutatingAdmissionPolicy bad', object: { ...newMutatingAdmissionPolicy, spec: { matchConstraints: { resourceRules: [{ operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] }, reinvocationPolicy: '', mutations: [{}, { patchType: 'X' }, { patchType: 'JSONPatch' }, { patchType: 'ApplyConfiguration', jsonPatch: { expression: '[]' } }, { patchType: 'JSONPatch', jsonPatch: { expression: ' ' } }] } }, errors: [
    'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    'spec.mutations[0].patchType: Required value',
    'spec.mutations[1].patchType: Unsupported value: "X": supported values: "ApplyConfiguration", "JSONPatch"',
    'spec.mutations[2].jsonPatch: Required value: must be specified when patchType is JSONPatch',
    'spec.mutations[3].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration',
    'spec.mutations[3].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
    'spec.mutations[4].jsonPatch.expression: Required value',
    'spec.reinvocationPolicy: Required value',
  ] },
  { name: 'MutatingAdmissionPolicy none', object: { ...newMutatingAdmissionPolicy, spec: { matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] }, reinvocationPolicy: 'Never', mutations: [] } }, errors: [
    'spec.mutations: Required value: mutations must contain at least one item',
  ] },
]
