/**
 * `evenkeel apply`: creates or changes the objects of files by server-side apply.
 */
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { oneNamespaceOption, type Command, type Invocation } from '../command.ts'
import { readManifests } from '../manifests.ts'
import { changesByApply } from '../terminal.ts'

export const apply: Command = {
  name: 'apply',
  about: 'create or change objects from files',
  usage: '-f FILE',
  options: {
    ...oneNamespaceOption,
    file: {
      type: 'string',
      short: 'f',
      multiple: true,
      value: 'FILE',
      about: 'YAML or JSON, a directory, or - for standard input',
    },
    'dry-run': { type: 'boolean', about: 'validate on the server, and change nothing' },
    force: { type: 'boolean', about: 'take over fields of other managers' },
    'field-manager': { type: 'string', value: 'NAME', about: 'the field manager (default: evenkeel-cli)' },
  },
  examples: ['evenkeel apply -f app.yaml', 'cat app.yaml | evenkeel apply -f -'],
  async run(call) {
    const objects = await readManifests(call.values.texts('file'), call.io)
    const client = await call.connect()
    for (const object of objects) await applyOne(client, object, call)
    return 0
  },
}

async function applyOne(
  client: Client,
  object: KubeObject,
  { values, io: { stdout, signal }, json }: Invocation,
): Promise<void> {
  const before = await client.find(object, nameOf(object, client), { signal })
  const dryRun = values.flag('dry-run')
  const stored = await client.apply(object, {
    force: values.flag('force'),
    fieldManager: values.text('field-manager') ?? 'evenkeel-cli',
    signal,
    ...(dryRun && { dryRun }),
  })
  const outcome =
    before === undefined ? 'created' : changesByApply(object, before, stored).length === 0 ? 'unchanged' : 'configured'
  const { name, namespace } = stored.metadata
  if (json)
    stdout.write(
      `${JSON.stringify({ outcome, dryRun, apiVersion: object.apiVersion, kind: object.kind, name, ...(namespace !== undefined && { namespace }) })}\n`,
    )
  else stdout.write(`${object.kind.toLowerCase()}/${name} ${outcome}${dryRun ? ' (dry run)' : ''}\n`)
}

function nameOf(
  { metadata: { name = '', namespace } }: KubeObject,
  client: Client,
): { name: string; namespace?: string } {
  const place = namespace ?? client.namespace
  return { name, ...(place !== undefined && { namespace: place }) }
}
