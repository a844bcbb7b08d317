/**
 * The plane: the duration of large jobs of its controllers, and the cost of authorization and admission per request.
 */
import type { Bench } from '../print.ts'
import { admissionBench } from './admission.ts'
import { garbageBench } from './garbage.ts'
import { namespacesBench } from './namespaces.ts'
import { permissionBench } from './permission.ts'

export const planeBench: Bench = {
  about:
    'a namespace of 10,000 objects deleted, 10,000 children collected, against kube-controller-manager if there is one; RBAC decisions; hooks, webhooks and policies per write',
  async run(options) {
    for (const part of [permissionBench, admissionBench, namespacesBench, garbageBench]) await part(options)
  },
}
