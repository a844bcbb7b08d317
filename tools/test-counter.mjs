/**
 * A vitest reporter that counts, for test.mjs: one JSON line per run on the file descriptor
 * in TEST_COUNTER.
 *
 * A file that fails to load, a failed hook and an error outside any test are failures
 * too, although no test failed.
 */
import { writeSync } from 'node:fs'

export default class TestCounter {
  onTestRunEnd(modules, errors) {
    const counts = { passed: 0, failed: errors.length, skipped: 0 }
    for (const module of modules) add(counts, module)
    if (process.env.TEST_COUNTER) writeSync(Number(process.env.TEST_COUNTER), `${JSON.stringify(counts)}\n`)
  }
}

function add(counts, module) {
  const states = [...module.children.allTests()].map((test) => test.result().state)
  const failed = states.filter((state) => state === 'failed').length
  counts.passed += states.filter((state) => state === 'passed').length
  counts.skipped += states.filter((state) => state === 'skipped').length
  counts.failed += failed === 0 && module.state() === 'failed' ? 1 : failed
}
