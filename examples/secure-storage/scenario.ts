/**
 * The scenario of SecureStorages. The cloud takes time here too, on the simulated clock.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { UserStep } from 'evenkeel/testing'
import type { Clock } from 'evenkeel/unstable/base'
import { CloudInMemory } from './cloud/cloud-in-memory.ts'
import { secureStorages } from './controller.ts'
import { SecureStorage } from './kinds.ts'
import type { Cloud } from './kinds.ts'

const place = { name: 'photos', namespace: 'default' }

const steps: readonly UserStep[] = [
  {
    name: 'creates SecureStorage photos',
    run: (user) => user.create(SecureStorage, { metadata: place, spec: { key: 'key-1' } }),
  },
  {
    name: 'wants another key',
    run: async (user) => user.patch(await user.get(SecureStorage, place), { spec: { key: 'key-2' } }),
  },
  { name: 'deletes it', run: async (user) => user.delete(await user.get(SecureStorage, place)) },
]

export const controllers = ({ external: { cloud } }: { external: { cloud: Cloud } }): ControllerDeclaration[] => [
  secureStorages(cloud),
]

export const scenario = {
  name: 'secure-storage',
  steps,
  external: ({ clock }: { clock: Clock }) => ({ cloud: new CloudInMemory(clock) }),
  services: { cloud: { contents } },
}

/** The value of an identity does not matter, but its keys must belong to it; an account in deletion counts as gone. */
function contents({ accounts, grants }: CloudInMemory): Record<string, unknown> {
  const live = [...accounts].filter(([, { goneAtMs }]) => goneAtMs === undefined)
  const principals = new Map(live.map(([name, { principalId }]) => [name, principalId]))
  return {
    accounts: new Map(live.map(([name, { region, encryptedWith }]) => [name, { region, encryptedWith }])),
    grants: new Map(
      [...grants].map(([name, { key, principalId }]) => [
        name,
        { key, isUsable: principals.get(name.slice(0, name.lastIndexOf('/'))) === principalId },
      ]),
    ),
  }
}
