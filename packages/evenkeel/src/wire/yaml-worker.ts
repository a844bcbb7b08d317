/**
 * The thread that parses long YAML texts: a text in, JSON and the paths of duplicate keys out. See yaml-thread.ts.
 */
import { parentPort } from 'node:worker_threads'
import { toStatus, stringifyJson } from '#api'
import { assert } from '#base'
import { parseYaml } from './yaml-reader.ts'
import type { YamlAnswer, YamlJob } from './yaml-thread.ts'

const port = parentPort
assert(port, 'yaml-worker must run as a worker thread')

// Node reports a thread as online before its file is loaded.
port.postMessage('ready' satisfies YamlAnswer)

port.on('message', ({ id, text, limits }: YamlJob) => {
  parseYaml(text, limits).then(
    ({ value, duplicates }) => {
      port.postMessage({ id, json: stringifyJson(value), duplicates } satisfies YamlAnswer)
    },
    (error: unknown) => {
      port.postMessage({ id, status: toStatus(error) } satisfies YamlAnswer)
    },
  )
})
