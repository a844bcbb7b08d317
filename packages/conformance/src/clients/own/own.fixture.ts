/**
 * Our own client with every transport: in process, and over HTTPS by a kubeconfig.
 */
import { defineKind } from 'evenkeel'
import { Client, connect } from 'evenkeel/client'
import type { ClientOptions } from 'evenkeel/client'
import { startServer } from 'evenkeel/server'
import type { Server } from 'evenkeel/server'
import { startClientTarget } from '../target.fixture.ts'

export { ConfigMap, Namespace } from 'evenkeel/kinds/core/v1'

export const Website = defineKind({
  group: 'own.example.com',
  version: 'v1',
  kind: 'Website',
  spec: {
    type: 'object',
    required: ['image'],
    properties: { image: { type: 'string' }, replicas: { type: 'integer', default: 1 } },
  },
  status: { type: 'object', properties: { ready: { type: 'integer' }, phase: { type: 'string' } } },
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.ready' },
})

/** The CRD of {@link Website}, as a server accepts it. */
export const websiteDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'websites.own.example.com' },
  spec: {
    group: Website.group,
    scope: 'Namespaced',
    names: { plural: Website.plural, singular: Website.singular, kind: Website.kind, listKind: Website.listKind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.ready' },
        },
        schema: { openAPIV3Schema: Website.schema },
      },
    ],
  },
}

export interface OwnTarget {
  readonly client: Client
  /** Compacts all history, if the target supports it: see `canCompact`. */
  readonly compact: () => Promise<void>
  readonly canCompact: boolean
  stop(): Promise<void>
}

type Open = (options?: Partial<ClientOptions>) => Promise<OwnTarget>

/** Transports by name. */
export const ways: Readonly<Record<string, Open>> = {
  async 'in process'(options = {}) {
    const server: Server = await startServer()
    return {
      client: new Client({ transport: server.transport, fieldManager: 'own', ...options }),
      compact: () => server.compact(),
      canCompact: true,
      stop: () => server.stop({ graceMs: 0 }),
    }
  },
  async https(options = {}) {
    const target = await startClientTarget()
    const client = await connect({ kubeconfig: target.kubeconfig, fieldManager: 'own', ...options })
    return {
      client,
      compact: () => target.compact?.() ?? Promise.resolve(),
      canCompact: target.compact !== undefined,
      async stop() {
        await client.close()
        await target.stop()
      },
    }
  },
}
