/**
 * Admission policies for deletes of ApplicationNamespaces. They need no process of ours: they hold while the controller
 * is down, on this server and on every other.
 */
import type { KubeObject } from 'evenkeel'
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from 'evenkeel/kinds/admissionregistration/v1'
import { confirmAnnotation } from './kinds.ts'

const orphans = 'has(request.options.propagationPolicy) && request.options.propagationPolicy == "Orphan"'
const adopted = 'has(oldObject.status) && has(oldObject.status.adopted) && oldObject.status.adopted'
const confirmed = `has(oldObject.metadata.annotations) && "${confirmAnnotation}" in oldObject.metadata.annotations && oldObject.metadata.annotations["${confirmAnnotation}"] == oldObject.spec.namespaceName`

/** Apply them before the first ApplicationNamespace. */
export const policies: readonly KubeObject[] = [
  ...policy('warn-before-deleting-a-namespace', {
    action: 'Warn',
    expression: orphans,
    message:
      '"the Namespace " + oldObject.spec.namespaceName + " is deleted with it, and everything in it; --cascade=orphan keeps it"',
  }),
  ...policy('ask-before-deleting-an-adopted-namespace', {
    action: 'Deny',
    expression: `(${orphans}) || !(${adopted}) || (${confirmed})`,
    message: `"the Namespace " + oldObject.spec.namespaceName + " existed before and would be deleted with everything in it: keep it with --cascade=orphan, or confirm with kubectl annotate appns " + oldObject.metadata.name + " ${confirmAnnotation}=" + oldObject.spec.namespaceName`,
  }),
]

function policy(
  name: string,
  { action, expression, message }: { action: 'Warn' | 'Deny'; expression: string; message: string },
): KubeObject[] {
  const rule = {
    apiGroups: ['demo.example.com'],
    apiVersions: ['*'],
    operations: ['DELETE'],
    resources: ['applicationnamespaces'],
  }
  return [
    {
      apiVersion: ValidatingAdmissionPolicy.apiVersion,
      kind: ValidatingAdmissionPolicy.kind,
      metadata: { name },
      spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression, messageExpression: message }] },
    } as KubeObject,
    {
      apiVersion: ValidatingAdmissionPolicyBinding.apiVersion,
      kind: ValidatingAdmissionPolicyBinding.kind,
      metadata: { name },
      spec: { policyName: name, validationActions: [action] },
    } as KubeObject,
  ]
}
