APP=billing
VERSION=4.18.2
STAGE=prod
HOSTS="b1.lan b2.lan b3.lan"
