/**
 * The programs of the pages run and print what the page shows, and a server accepts the manifests.
 *
 * The slow half of the docs check; tools/docs.test.ts checks types, links and fences.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from 'evenkeel/client'
import { startServer } from 'evenkeel/server'
import {
  Container,
  ContainerNetwork,
  ContainerVolume,
  Endpoint,
  Process,
  ProcessSet,
  Schedule,
  Service,
  Task,
} from '@evenkeel/workloads'
import { fencesOf, listPages, programsOf, readPage, root } from './doc-examples/pages.ts'
import { ProgramFiles, whereIs } from './doc-examples/programs.ts'
import type { Ran } from './doc-examples/programs.ts'

const pages = listPages()
const fences = pages.flatMap((page) => fencesOf(page, readPage(page)))
const programs = pages.flatMap((page) => programsOf(fencesOf(page, readPage(page)))).filter(({ isRun }) => isRun)

describe('programs of the pages', () => {
  const folder = join(root, '.cache', 'doc-examples', `run-${process.pid}`)
  const files = new ProgramFiles(folder, programs)
  let ran: readonly Ran[] = []
  beforeAll(async () => {
    ran = await files.run()
  }, 180_000)
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  test.for(programs.map((program) => [whereIs(program), program] as const))(
    '%s runs and prints what the page says',
    ([where, { prints }]) => {
      const { printed, error } = ran.find((each) => each.where === where) ?? { printed: '', error: 'it was not run' }
      expect(error).toBeUndefined()
      if (prints !== undefined) expect(printed).toBe(prints)
    },
  )
})

test.for(
  fences
    .filter(({ language }) => language === 'yaml')
    .map((fence) => [`${fence.page}:${fence.line}`, fence.text] as const),
)('a server takes the manifests of %s as they are', async ([, text]) => {
  const kinds = [Process, ProcessSet, Schedule, Task, Service, Endpoint, Container, ContainerNetwork, ContainerVolume]
  const server = await startServer({ kinds })
  const client = new Client({ transport: server.transport, namespace: 'default' })
  for (const manifest of text.split(/^---$/m)) {
    const [, apiVersion = ''] = /^apiVersion: (.*)$/m.exec(manifest) ?? []
    const [, kind = ''] = /^kind: (.*)$/m.exec(manifest) ?? []
    const [, namespace = 'default'] = /^metadata:.*namespace: (\w+)/m.exec(manifest) ?? []
    const { plural, namespaced } = await client.resourceOf({ apiVersion, kind })
    if (namespaced)
      await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }).catch(() => undefined)
    const path = `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}?fieldValidation=Strict`
    const { status } = await client.raw({
      method: 'POST',
      path,
      body: Buffer.from(manifest),
      headers: { 'content-type': 'application/yaml' },
    })
    expect(status).toBe(201)
  }
  await server.stop({ graceMs: 0 })
})
