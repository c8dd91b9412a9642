# The gateway stands before this port and lets in whom the instance's tenant lets in, so Jupyter asks for no token
# of its own, unless a password is wanted all the same.
import os

from jupyter_server.auth import passwd

password = os.environ.get("JUPYTER_PASSWORD")

c.ServerApp.ip = "0.0.0.0"
c.ServerApp.port = 8888
c.ServerApp.open_browser = False
c.ServerApp.allow_root = True
c.ServerApp.allow_remote_access = True
c.ServerApp.root_dir = "/data"
c.ServerApp.trust_xheaders = True
c.ServerApp.shutdown_no_activity_timeout = 0
c.IdentityProvider.token = ""
c.PasswordIdentityProvider.hashed_password = passwd(password) if password else ""
c.MappingKernelManager.cull_idle_timeout = int(os.environ.get("JUPYTER_KERNEL_IDLE_MINUTES", "0")) * 60
c.MappingKernelManager.cull_connected = False
