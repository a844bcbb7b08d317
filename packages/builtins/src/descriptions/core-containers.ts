/**
 * Descriptions of core/v1: containers, their environment, probes, hooks, resources and status.
 */

/** The signals that a container can be stopped with. */
const realTime = [
  'SIGRTMAX|SIGRTMAX-1|SIGRTMAX-10|SIGRTMAX-11|SIGRTMAX-12|SIGRTMAX-13|SIGRTMAX-14|SIGRTMAX-2|SIGRTMAX-3|SIGRTMAX-4',
  'SIGRTMAX-5|SIGRTMAX-6|SIGRTMAX-7|SIGRTMAX-8|SIGRTMAX-9|SIGRTMIN|SIGRTMIN+1|SIGRTMIN+10|SIGRTMIN+11|SIGRTMIN+12',
  'SIGRTMIN+13|SIGRTMIN+14|SIGRTMIN+15|SIGRTMIN+2|SIGRTMIN+3|SIGRTMIN+4|SIGRTMIN+5|SIGRTMIN+6|SIGRTMIN+7|SIGRTMIN+8',
  'SIGRTMIN+9',
].join('|')
const signals = [
  'SIGABRT|SIGALRM|SIGBUS|SIGCHLD|SIGCLD|SIGCONT|SIGFPE|SIGHUP|SIGILL|SIGINT|SIGIO|SIGIOT|SIGKILL|SIGPIPE|SIGPOLL',
  'SIGPROF|SIGPWR|SIGQUIT',
  realTime,
  'SIGSEGV|SIGSTKFLT|SIGSTOP|SIGSYS|SIGTERM|SIGTRAP|SIGTSTP|SIGTTIN|SIGTTOU|SIGURG|SIGUSR1|SIGUSR2|SIGVTALRM|SIGWINCH',
  'SIGXCPU|SIGXFSZ',
].join('|')

export const containerTexts = `
Capabilities: POSIX capabilities that a container gets or loses, beside those of the runtime.
  add: Capabilities to add, without the prefix CAP_. ALL means all of them.
  drop: Capabilities to remove, without the prefix CAP_. ALL means all of them.
ConfigMapEnvSource: A ConfigMap whose keys all become environment variables.
  name: The name of the ConfigMap.
  optional: When true, the ConfigMap may be missing.
ConfigMapKeySelector: One key of a ConfigMap.
  key: The key to take the value from.
  name: The name of the ConfigMap.
  optional: When true, the ConfigMap or the key may be missing.
Container: One container of a Pod.
  args: Arguments of the command, in place of CMD of the image. $(NAME) is replaced by the environment variable; $$(NAME) stays as $(NAME).
  command: The program and its first arguments, in place of ENTRYPOINT of the image. No shell runs it. $(NAME) is replaced as in args.
  env: Environment variables of the container.
  envFrom: ConfigMaps and Secrets whose keys become environment variables. Values in env take precedence.
  image: The image to run. Controllers may fill it in later.
  imagePullPolicy [Always|IfNotPresent|Never]: When the image is pulled. The default is Always for the tag latest and IfNotPresent for others.
  lifecycle: Actions after the start and before the end of the container.
  livenessProbe: A check whether the container works. It is restarted when the check fails.
  name: The name of the container, unique in the Pod. It cannot be changed.
  ports: Ports that the container listens on, mostly for information: other ports are reachable as well.
  readinessProbe: A check whether the container can serve. While it fails, Services send it no traffic.
  resizePolicy: What happens to the container when its resources are changed while it runs.
  resources: CPU, memory and other resources that the container needs and may use.
  restartPolicy: Whether the container is restarted, in place of the policy of the Pod. Always makes an init container a sidecar, which runs beside the other containers until they end.
  restartPolicyRules: Rules that decide about a restart by the exit code; the first that matches counts. At most 20; they need restartPolicy.
  securityContext: Security settings of the container. They take precedence over those of the Pod.
  startupProbe: A check whether the container has started. The other probes wait for it; when it fails the container is restarted.
  stdin: Keeps standard input open, so that a client can attach to it. The default is false.
  stdinOnce: Closes standard input after the first client that attached has left. The default is false.
  terminationMessagePath: The file in the container with its last message, read when it ends. At most 4096 bytes are kept. The default is /dev/termination-log.
  terminationMessagePolicy [FallbackToLogsOnError|File]: File reads only that file; FallbackToLogsOnError takes the end of the log of a failed container that left the file empty. The default is File.
  tty: Gives the container a terminal. It needs stdin. The default is false.
  volumeDevices: Block devices that the container uses.
  volumeMounts: Volumes that are mounted into the container.
  workingDir: The folder that the program starts in. The default is that of the image.
ContainerPort: A port of a container.
  containerPort: The port number, from 1 to 65535.
  hostIP: The address of the Node to bind hostPort to.
  hostPort: A port of the Node that leads to the container. Rarely needed. With hostNetwork it equals containerPort.
  name: A name for the port, unique in the Pod, that Services can refer to.
  protocol [SCTP|TCP|UDP]: The protocol. The default is TCP.
ContainerResizePolicy: What happens when one resource of a running container is changed.
  resourceName: The resource: cpu or memory.
  restartPolicy: NotRequired changes it while the container runs, RestartContainer restarts the container. The default is NotRequired.
ContainerRestartRule: What to do when a container ends in a certain way.
  action: Restart is the only action.
  exitCodes: The exit codes that the rule is for.
ContainerRestartRuleOnExitCodes: A condition on the exit code.
  operator: In: the exit code is one of the values; NotIn: it is none of them.
  values: The exit codes; at most 255.
ContainerState: What a container does now. One of the fields is set; without any it is waiting.
  running: Set while the container runs.
  terminated: Set when the container has ended.
  waiting: Set when the container has not started yet.
ContainerStateRunning: A container that runs.
  startedAt: When it was last started.
ContainerStateTerminated: A container that has ended.
  containerID: The id of the container, as TYPE://ID.
  exitCode: The exit code of the program.
  finishedAt: When it ended.
  message: Its last message.
  reason: One word about why it ended, such as Completed, Error or OOMKilled.
  signal: The signal that ended it.
  startedAt: When it was started.
ContainerStateWaiting: A container that has not started.
  message: Details about why it waits.
  reason: One word about why it waits, such as ImagePullBackOff.
ContainerStatus: What is known about one container.
  allocatedResources: What the Node has set aside for the container.
  allocatedResourcesStatus: The health of the devices that the container uses.
  containerID: The id of the container, as TYPE://ID.
  image: The image that runs. It may be written differently than in the spec.
  imageID: The id or digest of the image.
  lastState: How the container ended the last time, when it was restarted.
  name: The name of the container in the spec.
  ready: Whether the readiness probe passes; without a probe, whether the container has started.
  resources: The requests and limits that are in force.
  restartCount: How often the container was restarted. It may be too low after old containers were removed.
  started: Whether the startup probe has passed and the postStart hook has ended.
  state: What the container does now.
  stopSignal [${signals}]: The signal that the container is stopped with.
  user: The user and groups that the first process started with.
  volumeMounts: The volumes that are mounted.
ContainerUser: The user that a container runs as.
  linux: User and group ids on Linux.
EnvFromSource: A ConfigMap or a Secret whose keys become environment variables.
  configMapRef: The ConfigMap.
  prefix: A text that is put before each name.
  secretRef: The Secret.
EnvVar: An environment variable.
  name: The name of the variable: printable ASCII without the equals sign.
  value: The value. $(NAME) is replaced by a variable that is defined before it. The default is empty.
  valueFrom: Where the value comes from. It excludes value.
EnvVarSource: Where the value of an environment variable comes from. One of the fields is set.
  configMapKeyRef: A key of a ConfigMap.
  fieldRef: A field of the Pod, such as metadata.name or status.podIP.
  fileKeyRef: A key of a file in a volume, with lines NAME=VALUE.
  resourceFieldRef: A request or limit of a container.
  secretKeyRef: A key of a Secret.
EphemeralContainer < Container: A container for debugging in a running Pod. It has no guarantees of resources, is never restarted, and cannot be removed or changed.
  lifecycle: Not allowed here.
  livenessProbe: Not allowed here.
  name: The name of the container, unique among all containers of the Pod.
  ports: Not allowed here.
  readinessProbe: Not allowed here.
  resizePolicy: Not allowed here.
  resources: Not allowed here. It uses what the Pod has left.
  restartPolicy: Not allowed here.
  restartPolicyRules: Not allowed here.
  startupProbe: Not allowed here.
  targetContainerName: The container whose processes this one can see. Empty means those of the Pod. The runtime must support it.
ExecAction: Runs a program in the container. Exit code 0 is success.
  command: The program and its arguments. No shell runs it; start one yourself if you need it.
FileKeySelector: One key of a file with lines NAME=VALUE.
  key: The key to take the value from.
  optional: When true, the file or the key may be missing. The default is false.
  path: The file, relative to the volume, without "..".
  volumeName: The volume with the file.
GRPCAction: Calls the health service of gRPC.
  port: The port, from 1 to 65535.
  service: The service that is asked about. Empty means the whole server.
HTTPGetAction: Sends an HTTP GET request. A status code from 200 to 399 is success.
  host: The host to connect to. The default is the address of the Pod. Set the header Host for a virtual host.
  httpHeaders: Headers of the request. Repeated ones are allowed.
  path: The path of the request.
  port: The port number or the name of a port of the container.
  scheme [HTTP|HTTPS]: The protocol. HTTPS does not check the certificate. The default is HTTP.
HTTPHeader: A header of a request.
  name: The name of the header.
  value: The value of the header.
Lifecycle: Actions at the start and the end of a container.
  postStart: Runs right after the start, at the same time as the program. When it fails, the container is killed.
  preStop: Runs before the container is ended on request; its time is part of the grace period. It does not run when the container ends by itself.
  stopSignal [${signals}]: The signal that the container is stopped with. It needs spec.os.name. The default is that of the image or runtime.
LifecycleHandler: What to do. One of the fields is set.
  exec: Runs a program in the container.
  httpGet: Sends a request.
  sleep: Waits for some seconds.
  tcpSocket: Not supported and kept for old objects.
LinuxContainerUser: The ids of the first process of a container.
  gid: The main group id.
  supplementalGroups: The other group ids.
  uid: The user id.
ObjectFieldSelector: A field of the Pod.
  apiVersion: The version that fieldPath is written in. The default is v1.
  fieldPath: The field, such as metadata.name or metadata.labels['app'].
Probe: A repeated check of a container. One of exec, grpc, httpGet and tcpSocket is set.
  exec: Runs a program in the container.
  failureThreshold: How many failures in a row count as failed. The default is 3.
  grpc: Calls the health service of gRPC.
  httpGet: Sends a request.
  initialDelaySeconds: Seconds after the start before the first check. The default is 0.
  periodSeconds: Seconds between checks. The default is 10.
  successThreshold: How many successes in a row count as healthy after a failure. Liveness and startup probes allow only 1. The default is 1.
  tcpSocket: Opens a TCP connection.
  terminationGracePeriodSeconds: Seconds between the signal to end and the kill after this probe failed, in place of the value of the Pod. Not for readiness probes.
  timeoutSeconds: Seconds after which a check counts as failed. The default is 1.
ResourceClaim: A claim of the Pod that a container uses.
  name: The name of the claim in spec.resourceClaims of the Pod.
  request: One request of the claim. Empty means all devices of the claim.
ResourceFieldSelector: A request or limit of a container.
  containerName: The container. Needed in volumes, optional in environment variables.
  divisor: The unit of the value, such as 1m or 1Mi. The default is 1.
  resource: The value, such as limits.cpu or requests.memory.
ResourceHealth: The health of one device.
  health: Healthy, Unhealthy or Unknown. The default is Healthy.
  message: Details for people about the health.
  resourceID: The id of the device.
ResourceRequirements: What a container or a Pod needs and may use at most.
  claims: Claims of the Pod that the container uses. It cannot be changed, and is for containers only.
  limits: The most that may be used, by resource.
  requests: What is set aside, by resource. The default is the limit. It cannot be above the limit.
ResourceStatus: The health of the devices of one resource or claim.
  name: The resource, or claim:NAME/REQUEST for a claim.
  resources: The devices, each with its health.
SecretEnvSource: A Secret whose keys all become environment variables.
  name: The name of the Secret.
  optional: When true, the Secret may be missing.
SecretKeySelector: One key of a Secret.
  key: The key to take the value from.
  name: The name of the Secret.
  optional: When true, the Secret or the key may be missing.
SecurityContext: Security settings of a container. They take precedence over those of the Pod.
  allowPrivilegeEscalation: Whether a process may get more rights than its parent, as with setuid. Always true for privileged containers and with CAP_SYS_ADMIN. Not for windows.
  appArmorProfile: The AppArmor profile. Not for windows.
  capabilities: Capabilities to add or drop, beside those that the runtime grants. Not for windows.
  privileged: Runs with nearly all rights of root on the Node. The default is false. Not for windows.
  procMount [Default|Unmasked]: How /proc is mounted: Default hides some paths, Unmasked shows all and needs hostUsers false. The default is Default. Not for windows.
  readOnlyRootFilesystem: Makes the root file system read-only. The default is false. Not for windows.
  runAsGroup: The group id of the process. Absent means that of the image or runtime. Not for windows.
  runAsNonRoot: When true, the kubelet does not start the container as user 0.
  runAsUser: The user id of the process. Absent means that of the image. Not for windows.
  seLinuxOptions: The SELinux label. Absent means a random one of the runtime. Not for windows.
  seccompProfile: The seccomp profile. Not for windows.
  windowsOptions: Settings of Windows. Not for linux.
SleepAction: Waits for some seconds.
  seconds: How long to wait.
TCPSocketAction: Opens a TCP connection. An open port is success.
  host: The host to connect to. The default is the address of the Pod.
  port: The port number or the name of a port of the container.
VolumeDevice: A block device in a container.
  devicePath: The path of the device in the container.
  name: The name of a volume of the Pod that is a claim with volumeMode Block.
VolumeMount: A volume in the file system of a container.
  mountPath: The path in the container. It cannot contain a colon.
  mountPropagation [Bidirectional|HostToContainer|None]: Whether later mounts are seen: HostToContainer those of the Node, Bidirectional also those of the container on the Node. The default is None.
  name: The name of a volume of the Pod.
  readOnly: Mounts the volume read-only. The default is false.
  recursiveReadOnly: Whether mounts below are read-only too: Disabled, IfPossible or Enabled. It needs readOnly. The default is Disabled.
  subPath: A path in the volume that is mounted in place of its root.
  subPathExpr: As subPath, with $(NAME) replaced by environment variables. It excludes subPath.
VolumeMountStatus: How a volume is mounted in a container.
  mountPath: The path in the container.
  name: The name of the volume.
  readOnly: Whether the mount is read-only.
  recursiveReadOnly: Disabled or Enabled: whether mounts below are read-only too.
  volumeStatus: More about the volume, depending on its type.
`
