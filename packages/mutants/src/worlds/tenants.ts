/**
 * A fourth world: a Tenant is cluster-scoped and gets a namespace with a service account for every member.
 */
import { defineKind } from 'evenkeel'
import type { ObjectOf, OwnerReference } from 'evenkeel'
import type { ControllerDeclaration, ReconcileContext } from 'evenkeel/controller'
import { Namespace, ServiceAccount } from 'evenkeel/kinds/core/v1'
import type { ProcessContext, UserStep } from 'evenkeel/testing'
import type { Subject } from '../mutant.ts'

export const Tenant = defineKind({
  group: 'mutants.dev',
  version: 'v1',
  kind: 'Tenant',
  scope: 'Cluster',
  spec: {
    type: 'object',
    properties: {
      members: { type: 'array', items: { type: 'string' } },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    },
  } as const,
  status: {
    type: 'object',
    properties: { members: { type: 'integer' }, observedGeneration: { type: 'integer' } },
  } as const,
})

type TenantObject = ObjectOf<typeof Tenant>
type TenantContext = Pick<ReconcileContext<typeof Tenant>, 'client'>

const place = { name: 't' }

export const does = {
  create: {
    name: 'creates Tenant t',
    run: (user) =>
      user.create(Tenant, { metadata: place, spec: { members: ['ann', 'bob'], labels: { tier: 'gold' } } }),
  },
  join: {
    name: 'adds a member to Tenant t',
    run: async (user) => user.patch(await user.get(Tenant, place), { spec: { members: ['ann', 'bob', 'cyd'] } }),
  },
  remove: { name: 'deletes Tenant t', run: async (user) => user.delete(await user.get(Tenant, place)) },
} satisfies Record<string, UserStep>

type TenantMaking = (process: ProcessContext<object>) => ControllerDeclaration<typeof Tenant>

const rbac = [
  {
    apiGroups: [''],
    resources: ['namespaces', 'serviceaccounts'],
    verbs: ['get', 'list', 'create', 'patch', 'update', 'delete'],
  },
]

export function tenantProgram(
  make: TenantMaking,
  steps: readonly UserStep[] = [does.create, does.join, does.remove],
): Subject {
  return {
    controllers: ((process: ProcessContext<object>) => [
      { rbac, owns: [Namespace, ServiceAccount], ...make(process) },
    ]) as unknown as Subject['controllers'],
    scenario: { name: 'tenants', steps },
  }
}

export function ownersOf({ apiVersion, kind, metadata: { name = '', uid = '' } }: TenantObject): OwnerReference[] {
  return [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }]
}

export function homeOf({ metadata: { name = '' } }: TenantObject): string {
  return `tenant-${name}`
}

/** The namespace and the service account of every member. */
export async function applyHome(tenant: TenantObject, { client }: TenantContext): Promise<void> {
  await client.apply(
    Namespace,
    { metadata: { name: homeOf(tenant), labels: { ...tenant.spec.labels }, ownerReferences: ownersOf(tenant) } },
    { force: true },
  )
  await applyMembers(tenant, { client })
}

export async function applyMembers(tenant: TenantObject, { client }: TenantContext): Promise<void> {
  for (const member of tenant.spec.members ?? [])
    await client.apply(
      ServiceAccount,
      { metadata: { name: member, namespace: homeOf(tenant), ownerReferences: ownersOf(tenant) } },
      { force: true },
    )
}

/** Service accounts of former members. */
export async function pruneMembers(tenant: TenantObject, { client }: TenantContext): Promise<void> {
  const { items } = await client.list(ServiceAccount, { namespace: homeOf(tenant) })
  for (const account of items) {
    const { name, ownerReferences = [], uid } = account.metadata
    if (tenant.spec.members?.includes(name) || !ownerReferences.some((owner) => owner.uid === tenant.metadata.uid))
      continue
    await client.delete(account, { preconditions: { uid } }).catch((error: unknown) => {
      if ((error as { reason?: string }).reason !== 'NotFound') throw error
    })
  }
}

const rightTenant: TenantMaking = () => ({
  for: Tenant,
  async reconcile(tenant, { client, status }) {
    await applyHome(tenant, { client })
    await pruneMembers(tenant, { client })
    status.set({ members: tenant.spec.members?.length ?? 0 })
  },
})

export const cleanTenant = tenantProgram(rightTenant)
