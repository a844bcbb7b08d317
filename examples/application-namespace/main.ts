/**
 * ApplicationNamespaces as a module for `evenkeel up`.
 */
import type { Client } from 'evenkeel/client'
import { applicationNamespaces } from './controller.ts'
import { ApplicationNamespace } from './kinds.ts'
import { policies } from './policies.ts'

export const kinds = [ApplicationNamespace]
export const controllers = [applicationNamespaces()]

/** Nothing to show: but whoever deletes shall be warned. */
export async function serve({ client }: { client: Client }): Promise<{ name: string; url: string }[]> {
  for (const policy of policies) await client.apply(policy, { fieldManager: 'application-namespace', force: true })
  return []
}
