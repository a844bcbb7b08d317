/**
 * A prompt on a store: put, get, list, delete, and every change shown as watchers see it.
 */
import { createInterface } from 'node:readline/promises'
import type { FileStore } from 'evenkeel/unstable/store'

const help = `  put KEY VALUE      create or replace a key
  get KEY [REVISION] read it, also as it was
  list [PREFIX]      all keys below a prefix
  delete KEY
  compact            replace the log by a snapshot
  status             revision, history, health
  help, quit`

export async function runPrompt(store: FileStore, folder: string): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: 'store> ' })
  const say = (text: string): void => { process.stdout.write(`${text}\n`) }
  say(`The store in ${folder} is open at revision ${await store.head()}. Changes of everybody show as they happen.\n${help}`)
  const watch = store.watch('', { after: await store.head() })
  const watching = (async () => {
    for await (const { changes } of watch) {
      for (const { key, entry, revision } of changes) say(`  ~ ${revision} ${entry ? 'PUT' : 'DELETE'} ${key}`)
    }
  })()
  lines.prompt()
  for await (const line of lines) {
    const [command = '', ...words] = line.trim().split(/\s+/)
    if (command === 'quit' || command === 'exit') break
    try {
      const answer = await run(store, command, words)
      if (answer !== '') say(answer)
    } catch (error) {
      say(`  ${error instanceof Error ? error.message : String(error)}`)
    }
    lines.prompt()
  }
  lines.close()
  watch.close()
  await watching
}

async function run(store: FileStore, command: string, [key = '', ...rest]: readonly string[]): Promise<string> {
  switch (command) {
    case '': return ''
    case 'put': return put(store, key, rest.join(' '))
    case 'get': return get(store, key, rest[0])
    case 'list': return list(store, key)
    case 'delete': return remove(store, key)
    case 'compact': return await store.compactLog() ? '  the log is now a snapshot' : `  that did not work: ${store.failure()?.message ?? 'see the log'}`
    case 'status': return `  revision ${await store.head()}, history from ${await store.compacted()}, ${store.failure()?.message ?? 'all is well'}`
    case 'help': return help
    default: return `  there is no command ${command}; try help`
  }
}

async function put(store: FileStore, key: string, text: string): Promise<string> {
  const current = await revisionOf(store, key)
  const result = await store.commit({ key, value: Buffer.from(text), expect: current })
  return result.ok ? `  revision ${result.revision}` : `  somebody else was faster: ${key} is at revision ${result.current?.revision ?? 0}`
}

async function remove(store: FileStore, key: string): Promise<string> {
  const current = await revisionOf(store, key)
  if (current === 0) return `  there is no ${key}`
  const result = await store.commit({ key, expect: current })
  return result.ok ? `  deleted at revision ${result.revision}` : '  somebody else was faster'
}

async function get(store: FileStore, key: string, at: string | undefined): Promise<string> {
  const result = await store.get(key, { revision: at === undefined ? undefined : Number(at) })
  if (!result.ok) return result.reason === 'compacted' ? `  history before revision ${result.compacted} is gone` : `  revision ${at} has not happened; the newest is ${result.revision}`
  return result.entry ? `  ${Buffer.from(result.entry.value).toString()}   (revision ${result.entry.revision}, created at ${result.entry.created})` : `  there is no ${key}`
}

async function list(store: FileStore, prefix: string): Promise<string> {
  const result = await store.range(prefix, { limit: 50 })
  if (!result.ok) return `  ${result.reason}`
  const more = result.remaining > 0 ? [`  … and ${result.remaining} more`] : []
  return [...result.entries.map(({ key, value, revision }) => `  ${key} (${value.length} bytes, revision ${revision})`), ...more].join('\n') || '  nothing there'
}

async function revisionOf(store: FileStore, key: string): Promise<number> {
  const found = await store.get(key)
  return found.ok ? found.entry?.revision ?? 0 : 0
}
