/**
 * The time that the built package needs to start a server in this process, up to the first response.
 *
 * Plain JavaScript: without stripping or compiling, only the package itself is timed.
 */
// @ts-check
const importedFrom = performance.now()
const { startServer } = await import('evenkeel/server')
const importMs = performance.now() - importedFrom

const ms = await timeStart()
const secondMs = await timeStart()
process.stdout.write(JSON.stringify({ ms, importMs, secondMs }))

async function timeStart() {
  const startedAt = performance.now()
  const server = await startServer()
  const { status } = await server.transport({
    method: 'GET',
    target: '/api/v1/namespaces/default',
    headers: {},
    signal: new AbortController().signal,
  })
  const ms = performance.now() - startedAt
  if (status !== 200) throw new Error(`the first request returned ${status}`)
  await server.stop()
  return ms
}
