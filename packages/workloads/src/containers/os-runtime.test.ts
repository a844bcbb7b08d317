/** Which runtimes of a machine are asked, and in which order. */
import { SimulatedClock } from 'evenkeel/unstable/base'
import { expect, test } from 'vitest'
import { findRuntime, runtimeCandidates } from './os-runtime.ts'

const clock = new SimulatedClock()
const endpoints = (env: Readonly<Record<string, string>>, files: readonly string[]): string[] =>
  runtimeCandidates({ env, clock, exists: (path) => files.includes(path) }).map(({ endpoint }) => endpoint)

test('sockets come before executables, Docker before Podman, and Podman first where there is no daemon', () => {
  const env = { HOME: '/home/a', XDG_RUNTIME_DIR: '/run/user/1000', PATH: '/usr/bin:/bin' }
  const files = [
    '/var/run/docker.sock',
    '/run/podman/podman.sock',
    '/run/user/1000/podman/podman.sock',
    '/usr/bin/docker',
    '/bin/podman',
  ]
  expect(endpoints(env, files)).toEqual([
    'socket /var/run/docker.sock',
    'socket /run/user/1000/podman/podman.sock',
    'socket /run/podman/podman.sock',
    'cli /bin/podman',
    'cli /usr/bin/docker',
  ])
})

test('a socket that is named is the only one, and a host elsewhere is left to the executable', () => {
  const files = ['/var/run/docker.sock', '/bin/docker']
  expect(endpoints({ DOCKER_HOST: 'unix:///tmp/a.sock', PATH: '/bin' }, files)).toEqual(['socket /tmp/a.sock'])
  expect(endpoints({ DOCKER_HOST: 'tcp://10.0.0.1:2375', PATH: '/bin' }, files)).toEqual(['cli /bin/docker'])
})

test('a machine without a runtime says what to install; one that does not answer is named', async () => {
  await expect(findRuntime({ env: {}, clock, exists: () => false })).rejects.toThrow(
    'install Podman or Docker, or set DOCKER_HOST',
  )
  const env = { DOCKER_HOST: 'unix:///nowhere/docker.sock' }
  await expect(findRuntime({ env, clock })).rejects.toMatchObject({
    code: 'Unavailable',
    message: expect.stringContaining('/nowhere/docker.sock: the socket does not exist') as string,
  })
})
