/**
 * Mistakes of controllers of cluster-scoped objects.
 */
import { Namespace } from 'evenkeel/kinds/core/v1'
import type { Mutant } from '../mutant.ts'
import {
  applyHome,
  applyMembers,
  cleanTenant,
  does,
  homeOf,
  ownersOf,
  pruneMembers,
  Tenant,
  tenantProgram,
} from '../worlds/tenants.ts'

const clean = cleanTenant

export const tenantMutants: readonly Mutant[] = [
  {
    id: 'n01',
    mistake: 'the namespace has no owner and no cleanup',
    rules: ['cleanup'],
    tier: 0,
    clean,
    broken: tenantProgram(() => ({
      for: Tenant,
      async reconcile(tenant, { client }) {
        await client.apply(Namespace, { metadata: { name: homeOf(tenant) } }, { force: true })
        await applyMembers(tenant, { client })
        await pruneMembers(tenant, { client })
      },
    })),
  },
  {
    id: 'n02',
    mistake: 'keeps the service account of a former member',
    rules: ['state'],
    tier: 1,
    clean,
    broken: tenantProgram(
      () => ({
        for: Tenant,
        async reconcile(tenant, { client }) {
          await applyHome(tenant, { client })
        },
      }),
      [does.create],
    ),
  },
  {
    id: 'n03',
    mistake: 'only adds labels: a label that leaves the spec remains',
    rules: ['state'],
    tier: 1,
    clean,
    broken: tenantProgram(
      () => ({
        for: Tenant,
        async reconcile(tenant, { client }) {
          const found = await client.find(Namespace, { name: homeOf(tenant) })
          if (!found)
            await client.create(Namespace, {
              metadata: { name: homeOf(tenant), labels: { ...tenant.spec.labels }, ownerReferences: ownersOf(tenant) },
            })
          else if (
            Object.entries(tenant.spec.labels ?? {}).some(([key, value]) => found.metadata.labels?.[key] !== value)
          )
            await client.patch(found, { metadata: { labels: { ...tenant.spec.labels } } })
          await applyMembers(tenant, { client })
          await pruneMembers(tenant, { client })
        },
      }),
      [does.create],
    ),
  },
]
