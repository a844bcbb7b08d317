/**
 * Says in the status of validating policies what is wrong with their expressions, given the types they are about.
 *
 * A policy is written before anybody can know whether its types exist, so nothing is refused then; here it is told once
 * for each generation. A policy does what it does, whatever the status says.
 */
import { declareKind, loadAdmissionEngine } from '#api'
import type { JsonObject, KubeObject, TypeWarning } from '#api'
import type { ControllerDeclaration } from '#controller'
import { findTypes } from './policy-types.ts'

interface PolicyObject extends KubeObject {
  readonly spec?: JsonObject
  readonly status?: {
    readonly observedGeneration?: number
    readonly typeChecking?: { readonly expressionWarnings?: readonly TypeWarning[] }
  }
}

const group = 'admissionregistration.k8s.io'
const policyKind = declareKind<PolicyObject>({
  group,
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  scope: 'Cluster',
})

export function policyStatusController(): ControllerDeclaration<typeof policyKind> {
  return {
    name: 'validatingadmissionpolicy-status',
    for: policyKind,
    rbac: [{ apiGroups: [group], resources: ['validatingadmissionpolicies/status'], verbs: ['patch'] }],
    async reconcile(policy, { client, signal }) {
      const {
        metadata: { generation = 1 },
        spec = {},
        status = {},
      } = policy
      if (generation <= (status.observedGeneration ?? 0)) return
      const [language, types] = await Promise.all([loadAdmissionEngine(), findTypes(spec, client, { signal })])
      const warnings = language.typeWarnings(spec, types)
      await client.patchStatus(
        policy,
        { observedGeneration: generation, typeChecking: { expressionWarnings: warnings.length > 0 ? warnings : null } },
        { signal },
      )
    },
  }
}
