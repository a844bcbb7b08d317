/**
 * A server of an application for tests, with a client and a folder.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError, type KubeObject } from 'evenkeel'
import { Client } from 'evenkeel/client'
import { makeIdentity } from 'evenkeel/server'
import { createLogger, SystemClock } from 'evenkeel/unstable/base'
import type { ResourceCleanup } from './execution.ts'
import { group, version } from './kinds/group.ts'
import type { ContainerLogs } from './logs/container-log.ts'
import { startDcpServer, type DcpServer } from './server.ts'

const noContainers: ContainerLogs = {
  read: () => {
    throw new Error('there are no containers in this test')
  },
}

export class TestApplication {
  readonly server: DcpServer
  readonly client: Client
  readonly folder: string
  readonly stops: readonly ResourceCleanup[]

  private constructor(server: DcpServer, folder: string, stops: readonly ResourceCleanup[]) {
    this.server = server
    this.client = new Client({ transport: server.transport })
    this.folder = folder
    this.stops = stops
  }

  static async start(containers: ContainerLogs = noContainers): Promise<TestApplication> {
    const folder = await mkdtemp(join(tmpdir(), 'evenkeel-dcp-'))
    const stops: ResourceCleanup[] = []
    const server = await startDcpServer({
      identity: makeIdentity(),
      host: '127.0.0.1',
      port: 0,
      logFolder: folder,
      containers,
      cleanupMs: 30_000,
      log: createLogger({ clock: new SystemClock(), sink: () => undefined }),
      onStop: (cleanup) => {
        stops.push(cleanup)
      },
    })
    return new TestApplication(server, folder, stops)
  }

  async stop(): Promise<void> {
    await this.client.close()
    await this.server.stop()
    await rm(this.folder, { recursive: true, force: true })
  }

  create(kind: string, name: string, content: object): Promise<KubeObject> {
    return this.client.create({ apiVersion: `${group}/${version}`, kind, metadata: { name }, ...content })
  }

  /** What is wrong with a write, as `path: reason`; empty when nothing is. */
  async problems(write: Promise<unknown>): Promise<string[]> {
    try {
      await write
      return []
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { causes } = error
      return causes.length === 0 ? [error.reason] : causes.map(({ field, reason }) => `${field}: ${reason}`)
    }
  }
}
