#!/bin/sh
# Unpacks a Debian release with its rabbitmq-server into a folder: unpack.sh VERSION SUITE FOLDER [MIRROR]
#
# Runs in a mount namespace of its own, so that nothing it mounts outlives it or is seen from outside. The folder gets
# its name when everything is in it; what an interrupted run has left under another name is removed by the next one.
# Without a mirror debootstrap takes its usual one. Writes nothing before its end, so that it can go on without a reader.
set -eu
version=$1 suite=$2 folder=$3 mirror=${4:-}
partial=$folder.partial-$$
output=$(mktemp)

finish() {
  code=$?
  trap '' HUP INT TERM
  while umount "$partial/proc" 2>/dev/null; do :; done
  rm -rf --one-file-system "$partial"
  [ "$code" -eq 0 ] || tail -n 20 "$output"
  rm -f "$output"
  exit "$code"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

inside() {
  chroot "$partial" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
    DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} \
    ${https_proxy:+https_proxy="$https_proxy"} "$@"
}

for old in "$folder".partial-*; do
  kill -0 "${old##*-}" 2>/dev/null || rm -rf --one-file-system "$old"
done

{
  eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
  export http_proxy https_proxy
  # What debootstrap does not know by name is put together as its newest.
  script=/usr/share/debootstrap/scripts/$suite
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  # Nobody misses a half-written file of what is thrown away when it does not come to its end.
  mkdir -p "$partial/etc/dpkg/dpkg.cfg.d"
  echo force-unsafe-io >"$partial/etc/dpkg/dpkg.cfg.d/unpacking"
  debootstrap --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
    --force-check-gpg "$suite" "$partial" "$mirror" "$script"
  # Without it a node does not come to an end resolving localhost.
  cp /etc/hosts "$partial/etc/hosts"
  printf '#!/bin/sh\nexit 101\n' >"$partial/usr/sbin/policy-rc.d"
  chmod 755 "$partial/usr/sbin/policy-rc.d"
  mount -t proc proc "$partial/proc"
  # A mirror may have stood still, which debootstrap does not mind either.
  inside apt-get update -qq -o Acquire::Check-Valid-Until=false
  offered=$(inside apt-cache show --no-all-versions rabbitmq-server | sed -n 's/^Version: //p')
  case $offered in
    "$version".*) ;;
    *)
      echo "Debian $suite has RabbitMQ $offered, not $version"
      exit 3
      ;;
  esac
  inside apt-get install -y -qq --no-install-recommends rabbitmq-server
  inside apt-get clean
  umount "$partial/proc"
  rm -rf "$partial"/var/lib/apt/lists/*
} >"$output" 2>&1

# Another run may have been faster.
mv -T "$partial" "$folder" 2>/dev/null || [ -d "$folder" ]
