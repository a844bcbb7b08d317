/**
 * The scenario of ApplicationNamespaces. One Namespace exists before the program starts.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { UserStep } from 'evenkeel/testing'
import { applicationNamespaces } from './controller.ts'
import { adoptLabel, ApplicationNamespace } from './kinds.ts'

const objects = [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'legacy', labels: { [adoptLabel]: 'old-shop', team: 'red' } },
  },
]

const steps: readonly UserStep[] = [
  {
    name: 'creates ApplicationNamespace shop',
    run: (user) =>
      user.create(ApplicationNamespace, {
        metadata: { name: 'shop' },
        spec: { namespaceName: 'shop', labels: { team: 'blue' } },
      }),
  },
  {
    name: 'creates ApplicationNamespace old-shop for the existing Namespace',
    run: (user) =>
      user.create(ApplicationNamespace, { metadata: { name: 'old-shop' }, spec: { namespaceName: 'legacy' } }),
  },
  {
    name: 'releases legacy',
    run: async (user) =>
      user.delete(await user.get(ApplicationNamespace, { name: 'old-shop' }), { propagationPolicy: 'Orphan' }),
  },
]

export const controllers = (): ControllerDeclaration[] => [applicationNamespaces()]

export const scenario = { name: 'application-namespace', steps, objects }
