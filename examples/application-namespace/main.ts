/**
 * ApplicationNamespaces as a module for `evenkeel up`.
 */
import type { Client } from 'evenkeel/client'
import { applicationNamespaces } from './controller.ts'
import { ApplicationNamespace } from './kinds.ts'
import { policies } from './policies.ts'

export const kinds = [ApplicationNamespace]
export const controllers = [applicationNamespaces()]

/** Installs the policies that warn on deletion; has no page. */
export async function serve({ client }: { client: Client }): Promise<{ name: string; url: string }[]> {
  for (const policy of policies) await client.apply(policy, { fieldManager: 'application-namespace', force: true })
  return []
}
