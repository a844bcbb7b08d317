/**
 * Writes of ValidatingAdmissionPolicyBinding and MutatingAdmissionPolicyBinding objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newValidatingAdmissionPolicyBinding = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'a' },
}

export const cases: readonly Case[] = [
  {
    name: 'ValidatingAdmissionPolicyBinding',
    object: { ...newValidatingAdmissionPolicyBinding, spec: { policyName: 'p', validationActions: ['Deny'] } },
    errors: [],
  },
  {
    name: 'ValidatingAdmissionPolicyBinding bad',
    object: {
      ...newValidatingAdmissionPolicyBinding,
      spec: { policyName: 'A_', validationActions: ['Deny', 'Warn', 'Deny', 'X'], paramRef: {}, matchResources: {} },
    },
    errors: [
      'spec.paramRef.parameterNotFoundAction: Required value',
      'spec.paramRef: Required value: one of name or selector must be specified',
      "spec.policyName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and mus",
      'spec.validationActions: Invalid value: ["Deny","Warn","Deny","X"]: must not contain both Deny and Warn (repeating the same validation failur',
      'spec.validationActions[2]: Duplicate value: "Deny"',
      'spec.validationActions[3]: Unsupported value: "X": supported values: "Audit", "Deny", "Warn"',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicyBinding none',
    object: { ...newValidatingAdmissionPolicyBinding, spec: { policyName: '', validationActions: [] } },
    errors: [
      'spec.policyName: Required value',
      'spec.validationActions: Required value: at least one validation action is required',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicyBinding param',
    object: {
      ...newValidatingAdmissionPolicyBinding,
      spec: {
        policyName: 'p',
        validationActions: ['Deny'],
        paramRef: { name: 'a/b', selector: { matchLabels: { a: 'b' } }, parameterNotFoundAction: 'X' },
      },
    },
    errors: [
      'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.name: Invalid value: "a/b": may not contain \'/\'',
      'spec.paramRef.parameterNotFoundAction: Unsupported value: "X": supported values: "Deny", "Allow"',
      'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
    ],
  },
  {
    name: 'MutatingAdmissionPolicyBinding',
    object: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { name: 'a' },
      spec: { policyName: 'p' },
    },
    errors: [],
  },
  {
    name: 'MutatingAdmissionPolicyBinding bad',
    object: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { name: 'a' },
      spec: {
        policyName: 'p',
        matchResources: {
          resourceRules: [{ operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      },
    },
    errors: [
      'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ],
  },
]
